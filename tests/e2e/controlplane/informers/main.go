// What client-go's informers pay for a fleet, beside which tests/bench/fleet.py holds the hub.
//
//	informers KUBECONFIG...
//
// One informer of Nodes for each kubeconfig, with a transform that keeps what the hub keeps. Says {"synced": true} when
// all have listed, and goes on until standard input ends.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func strip(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	kept := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name, UID: node.UID, Labels: node.Labels,
		ResourceVersion: node.ResourceVersion}, Spec: corev1.NodeSpec{Taints: node.Spec.Taints,
		Unschedulable: node.Spec.Unschedulable}, Status: corev1.NodeStatus{Allocatable: node.Status.Allocatable}}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			kept.Status.Conditions = []corev1.NodeCondition{{Type: condition.Type, Status: condition.Status}}
		}
	}
	return kept, nil
}

func main() {
	stop := make(chan struct{})
	var synced []cache.InformerSynced
	for _, file := range os.Args[1:] {
		config, err := clientcmd.BuildConfigFromFlags("", file)
		if err != nil {
			log.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			log.Fatal(err)
		}
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(strip))
		synced = append(synced, factory.Core().V1().Nodes().Informer().HasSynced)
		factory.Start(stop)
	}
	if !cache.WaitForCacheSync(stop, synced...) {
		log.Fatal("not synced")
	}
	fmt.Println(`{"synced": true}`)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
