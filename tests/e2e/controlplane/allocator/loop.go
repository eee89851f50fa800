package main

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/dynamic-resource-allocation/structured"
)

// loopMax bounds all of a loop.
const loopMax = 10 * time.Minute

// loop is a cluster and some pods that are alike: each is asked for on one node after the other until one has room,
// and takes its devices there.
type loop struct {
	world
	Nodes  []*corev1.Node `json:"nodes"`
	Pods   int            `json:"pods"`
	Repeat int            `json:"repeat"`
}

// timed is what the loop took, each time, without the reading of its input, and where the pods went the last time.
type timed struct {
	Nanoseconds []int64  `json:"nanoseconds"`
	Nodes       []string `json:"nodes"`
	Error       string   `json:"error,omitempty"`
}

func timeLoop(line []byte) timed {
	var l loop
	if err := json.Unmarshal(line, &l); err != nil {
		return timed{Error: err.Error()}
	}
	for _, check := range []func() error{l.prepareSlices, l.prepareClasses, l.prepareRules, l.prepareClaims} {
		if err := check(); err != nil {
			return timed{Error: err.Error()}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), loopMax)
	defer cancel()
	slices := l.taintedSlices()
	var answer timed
	for range l.Repeat {
		state := l.inUse()
		answer.Nodes = []string{}
		begin := time.Now()
		for range l.Pods {
			allocator, err := structured.NewAllocator(ctx, defaultFeatures(), state, classes(l.Classes), slices, selectors)
			if err != nil {
				return timed{Error: err.Error()}
			}
			node, err := l.firstNode(ctx, allocator, &state)
			if err != nil {
				return timed{Error: err.Error()}
			}
			if node == "" {
				break
			}
			answer.Nodes = append(answer.Nodes, node)
		}
		answer.Nanoseconds = append(answer.Nanoseconds, time.Since(begin).Nanoseconds())
	}
	return answer
}

// firstNode returns the first node with room for the claims, whose devices are in use then; "" if there is none.
func (l *loop) firstNode(ctx context.Context, allocator structured.Allocator, state *structured.AllocatedState) (string, error) {
	for _, node := range l.Nodes {
		results, err := allocator.Allocate(ctx, node, l.Claims)
		if err != nil {
			return "", err
		}
		if len(results) != len(l.Claims) {
			continue
		}
		for _, allocation := range results {
			for _, result := range allocation.Devices.Results {
				state.AllocatedDevices.Insert(structured.MakeDeviceID(result.Driver, result.Pool, result.Device))
			}
		}
		return node.Name, nil
	}
	return "", nil
}
