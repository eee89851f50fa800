package main

// discovery holds the documents of all groups (aggregated discovery, Kubernetes 1.30 and later), by path.
var discovery = map[string]string{
	"/api": group("", `{"version":"v1","freshness":"Current","resources":[`+resource("nodes", "Node", "", "Cluster")+`]}`),
	"/apis": group("kueue.x-k8s.io", `{"version":"v1beta2","freshness":"Current","resources":[`+
		resource("clusterqueues", "ClusterQueue", "kueue.x-k8s.io", "Cluster")+","+
		resource("localqueues", "LocalQueue", "kueue.x-k8s.io", "Namespaced")+`]}`),
}

func group(name, versions string) string {
	metadata := `{"name":"` + name + `","creationTimestamp":null}`
	if name == "" {
		metadata = `{"creationTimestamp":null}`
	}
	return `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":` +
		metadata + `,"versions":[` + versions + `]}]}`
}

func resource(plural, kind, group, scope string) string {
	version := "v1"
	if group != "" {
		version = "v1beta2"
	}
	return `{"resource":"` + plural + `","responseKind":{"group":"` + group + `","version":"` + version + `","kind":"` +
		kind + `"},"scope":"` + scope + `","singularResource":"","verbs":["get","list","watch"]}`
}
