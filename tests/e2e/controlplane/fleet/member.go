package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const bookmarkPeriod = time.Minute // as a real server's

// A node is what differs from one Node to another.
type node struct {
	version, cpu, heartbeat int
	ready                   bool
}

type member struct {
	name     string
	mutex    sync.Mutex
	nodes    []node
	version  int
	watchers map[chan []byte]bool
}

// A collection is a list that a member serves. Nodes alone change.
type collection struct {
	member           *member
	path, kind, list string // kind: of the items; list: its apiVersion
	count            int
	print            func(i int, n node) []byte
}

var fleet []*member

// change says what a load does to a Node.
var change = map[string]func(*node){
	"heartbeats": func(n *node) { n.heartbeat++ },
	"changes":    func(n *node) { n.cpu = 64 + 63 - n.cpu },
	"flips":      func(n *node) { n.ready = !n.ready },
}

func makeFleet() {
	for i := range *members {
		m := &member{name: fmt.Sprintf("member-%d", i), version: *nodes, watchers: map[chan []byte]bool{}}
		for j := range *nodes {
			m.nodes = append(m.nodes, node{version: j + 1, cpu: 64, ready: true})
		}
		fleet = append(fleet, m)
	}
}

func (m *member) collections() []collection {
	const kueue = "kueue.x-k8s.io/v1beta2"
	return []collection{
		{m, "/api/v1/nodes", "Node", "v1", len(m.nodes), m.printNode},
		{m, "/apis/" + kueue + "/clusterqueues", "ClusterQueue", kueue, 1, m.printClusterQueue},
		{m, "/apis/" + kueue + "/localqueues", "LocalQueue", kueue, 1, m.printLocalQueue}}
}

// change changes a Node, tells those who watch, and returns its resourceVersion.
func (m *member) change(i int, how func(*node)) int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.version++
	how(&m.nodes[i])
	m.nodes[i].version = m.version
	event := event("MODIFIED", m.printNode(i, m.nodes[i]))
	for watcher := range m.watchers {
		watcher <- event
	}
	return m.version
}

// turn counts the changes of all loads, so that one load goes on where the load before it ended.
var turn atomic.Int64

// load spreads changes over the members that are not for probes: each Node is changed once before any is changed again.
func load(how func(*node), count, rate int) {
	loaded := fleet[*probes:]
	const tick = 10 * time.Millisecond
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	begin := time.Now()
	for done := 0; done < count; <-ticker.C {
		due := min(count, int(time.Since(begin).Seconds()*float64(rate)))
		for ; done < due; done++ {
			// Neighbors in time are not neighbors in the fleet.
			at := int(turn.Add(1))
			m := loaded[at%len(loaded)]
			m.change(at/len(loaded)%len(m.nodes), how)
		}
	}
}

func event(kind string, object []byte) []byte {
	return fmt.Appendf(nil, `{"type":"%s","object":%s}`+"\n", kind, object)
}

func (c collection) items() ([]node, int) {
	if c.kind != "Node" {
		return make([]node, c.count), c.member.version
	}
	return append([]node(nil), c.member.nodes...), c.member.version
}

func (c collection) serve(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if watch := query.Get("watch"); watch == "true" || watch == "1" {
		c.watch(w, r)
		return
	}
	c.member.mutex.Lock()
	items, version := c.items()
	c.member.mutex.Unlock()
	begin, _ := strconv.Atoi(query.Get("continue"))
	end := len(items)
	next := ""
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && begin+limit < end {
		end = begin + limit
		next = strconv.Itoa(end)
	}
	fmt.Fprintf(w, `{"kind":"%sList","apiVersion":"%s","metadata":{"resourceVersion":"%d","continue":"%s"},"items":[`,
		c.kind, c.list, version, next)
	for i := begin; i < end; i++ {
		if i > begin {
			_, _ = w.Write([]byte(","))
		}
		_, _ = w.Write(c.print(i, items[i]))
	}
	_, _ = w.Write([]byte("]}"))
}

func (c collection) bookmark(version int, annotations string) []byte {
	return event("BOOKMARK", fmt.Appendf(nil,
		`{"kind":"%s","apiVersion":"%s","metadata":{"resourceVersion":"%d"%s}}`, c.kind, c.list, version, annotations))
}

func (c collection) watch(w http.ResponseWriter, r *http.Request) {
	m := c.member
	query := r.URL.Query()
	initial := query.Get("sendInitialEvents") == "true"
	watcher := make(chan []byte, 256)
	m.mutex.Lock()
	items, version := c.items()
	if from := query.Get("resourceVersion"); !initial && from != strconv.Itoa(version) {
		m.mutex.Unlock()
		_, _ = w.Write(event("ERROR", []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure",`+
			`"reason":"Expired","message":"too old resource version","code":410}`)))
		return
	}
	if c.kind == "Node" {
		m.watchers[watcher] = true
	}
	m.mutex.Unlock()
	watches.Add(1)
	defer watches.Add(-1)
	defer func() {
		go func() { // what is being sent to it must not wait
			for range watcher {
			}
		}()
		m.mutex.Lock()
		delete(m.watchers, watcher)
		m.mutex.Unlock()
		close(watcher)
	}()
	control := http.NewResponseController(w)
	if initial {
		for i, n := range items {
			if _, err := w.Write(event("ADDED", c.print(i, n))); err != nil {
				return
			}
		}
		_, _ = w.Write(c.bookmark(version, `,"annotations":{"k8s.io/initial-events-end":"true"}`))
	}
	if control.Flush() != nil {
		return
	}
	items = nil
	for {
		var text []byte
		select {
		case text = <-watcher:
		case <-time.After(bookmarkPeriod):
			m.mutex.Lock()
			text = c.bookmark(m.version, "")
			m.mutex.Unlock()
		case <-r.Context().Done():
			return
		}
		if _, err := w.Write(text); err != nil || control.Flush() != nil {
			return
		}
	}
}

// -- how a member prints its objects ---------------------------------------------------------------------------

func (m *member) metadata(name, uid string, version int) string {
	return fmt.Sprintf(`"metadata":{"name":"%s","uid":"%s","resourceVersion":"%d",`+
		`"creationTimestamp":"2026-01-01T00:00:00Z"`, name, uid, version)
}

func (m *member) uid(kind, i int) string {
	sum := 0
	for _, c := range m.name {
		sum = sum*31 + int(c)
	}
	return fmt.Sprintf("%08x-%04x-4000-8000-%012x", uint32(sum), kind, i)
}

func (m *member) printNode(i int, n node) []byte {
	name := fmt.Sprintf("ip-10-%d-%d-%d.eu-central-1.compute.internal", i>>16&255, i>>8&255, i&255)
	ready := map[bool]string{true: "True", false: "False"}[n.ready]
	seen := time.Date(2026, 1, 1, 0, 0, 10*n.heartbeat, 0, time.UTC).Format(time.RFC3339)
	out := make([]byte, 0, 9<<10)
	out = append(out, `{"kind":"Node","apiVersion":"v1",`...)
	out = append(out, m.metadata(name, m.uid(1, i), n.version)...)
	out = fmt.Appendf(out, nodeHead, name, n.cpu)
	for _, condition := range nodeConditions {
		out = fmt.Appendf(out, `{"type":"%s","status":"False","lastHeartbeatTime":"%s",`+
			`"lastTransitionTime":"2026-01-01T00:00:00Z","reason":"KubeletHas%s","message":"kubelet has %s"},`,
			condition, seen, condition, condition)
	}
	out = fmt.Appendf(out, `{"type":"Ready","status":"%s","lastHeartbeatTime":"%s","lastTransitionTime":`+
		`"2026-01-01T00:00:00Z","reason":"KubeletReady","message":"kubelet is posting ready status"}]`, ready, seen)
	return append(append(out, nodeTail...), "}}"...)
}

func (m *member) printClusterQueue(i int, _ node) []byte {
	return []byte(`{"kind":"ClusterQueue","apiVersion":"kueue.x-k8s.io/v1beta2",` + m.metadata("batch", m.uid(2, i), 1) +
		`},"spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"on-demand",` +
		`"resources":[{"name":"cpu","nominalQuota":"10"}]}]}]},"status":{"conditions":[{"type":"Active","status":"True",` +
		`"reason":"Ready","message":"Can admit new workloads","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
}

func (m *member) printLocalQueue(i int, _ node) []byte {
	return []byte(`{"kind":"LocalQueue","apiVersion":"kueue.x-k8s.io/v1beta2",` + m.metadata("main", m.uid(3, i), 1) +
		`,"namespace":"team"},"spec":{"clusterQueue":"batch"},"status":{"conditions":[{"type":"Active","status":"True",` +
		`"reason":"Ready","message":"Can submit new workloads to localQueue","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
}

var nodeHead = `,"labels":{"beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/instance-type":"m6i.16xlarge",` +
	`"beta.kubernetes.io/os":"linux","eks.amazonaws.com/capacityType":"ON_DEMAND","eks.amazonaws.com/nodegroup":"batch",` +
	`"failure-domain.beta.kubernetes.io/region":"eu-central-1","failure-domain.beta.kubernetes.io/zone":"eu-central-1a",` +
	`"kubernetes.io/arch":"amd64","kubernetes.io/hostname":"%s","kubernetes.io/os":"linux",` +
	`"node.kubernetes.io/instance-type":"m6i.16xlarge","pool":"on-demand",` +
	`"topology.kubernetes.io/region":"eu-central-1","topology.kubernetes.io/zone":"eu-central-1a"},` +
	`"annotations":{"alpha.kubernetes.io/provided-node-ip":"10.0.0.1","csi.volume.kubernetes.io/nodeid":` +
	`"{\"ebs.csi.aws.com\":\"i-0123456789abcdef0\"}","node.alpha.kubernetes.io/ttl":"0",` +
	`"volumes.kubernetes.io/controller-managed-attach-detach":"true"},"managedFields":[` + managedFields + `]},` +
	`"spec":{"podCIDR":"10.1.0.0/24","podCIDRs":["10.1.0.0/24"],"providerID":"aws:///eu-central-1a/i-0123456789abcdef0"},` +
	`"status":{"capacity":{"cpu":"64","ephemeral-storage":"104845292Ki","hugepages-1Gi":"0","hugepages-2Mi":"0",` +
	`"memory":"259868672Ki","pods":"110"},"allocatable":{"cpu":"%d","ephemeral-storage":"95551679124",` +
	`"hugepages-1Gi":"0","hugepages-2Mi":"0","memory":"256Gi","pods":"110"},"conditions":[`

var nodeConditions = []string{"MemoryPressure", "DiskPressure", "PIDPressure"}

// Who set which field: a part of what a real server sends with each Node, and the only one without a use here.
var managedFields = managed("kubelet", "Update") + "," + managed("kube-controller-manager", "Update")

func managed(manager, operation string) string {
	fields := make([]string, 24)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"f:field-of-a-node-%d":{"f:lastHeartbeatTime":{}}`, i)
	}
	return fmt.Sprintf(`{"manager":"%s","operation":"%s","apiVersion":"v1","time":"2026-01-01T00:00:00Z",`+
		`"fieldsType":"FieldsV1","fieldsV1":{%s}}`, manager, operation, strings.Join(fields, ","))
}

var nodeTail = `,"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostname","address":"ip-10-0-0-1"}],` +
	`"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"nodeInfo":{"machineID":"0123456789abcdef0123456789abcdef",` +
	`"systemUUID":"01234567-89ab-cdef-0123-456789abcdef","bootID":"01234567-89ab-cdef-0123-456789abcdef",` +
	`"kernelVersion":"6.1.0-18-cloud-amd64","osImage":"Debian GNU/Linux 12 (bookworm)","containerRuntimeVersion":` +
	`"containerd://1.7.20","kubeletVersion":"v1.36.3","kubeProxyVersion":"","operatingSystem":"linux","architecture":` +
	`"amd64"},"images":[` + images() + `]`

func images() string {
	out := make([]string, 20)
	for i := range out {
		out[i] = fmt.Sprintf(`{"names":["registry.example.com/team/image-%d@sha256:%064x",`+
			`"registry.example.com/team/image-%d:v1.%d.0"],"sizeBytes":%d}`, i, i*i+1, i, i, 10_000_000+i)
	}
	return strings.Join(out, ",")
}
