// A fleet of member clusters in one process: the API of each, as far as a hub reads it.
//
//	fleet -directory DIR -members 2000 -nodes 100
//
// Member I answers below https://127.0.0.1:PORT/members/I, over TLS 1.3 and HTTP/1.1: discovery, and lists and watches
// (also streaming lists) of Nodes as a kubelet prints them, ClusterQueues and LocalQueues. DIR gets a kubeconfig for
// each. Says {"ready": true}; then each line of standard input is a command, which is answered by a line of JSON:
//
//	heartbeats COUNT RATE    COUNT Nodes report, RATE a second, and nothing of theirs changes
//	changes COUNT RATE       their allocatable cpu changes
//	flips COUNT RATE         they are ready no more, or again
//	probe MEMBER             the first Node of a member has one cpu less, or one more: {"sent": Unix ns, "version": ...}
//	stats                    {"cpu": seconds, "connections": made so far, "open": now, "watches": now, "requests": ...}
//
// The first `-probes` members have none of the load, so that a probe's answer is its own.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const token = "a-token-of-the-fleet"

var (
	directory = flag.String("directory", ".", "gets the kubeconfigs")
	members   = flag.Int("members", 3, "clusters")
	nodes     = flag.Int("nodes", 10, "Nodes of each")
	probes    = flag.Int("probes", 1, "members without load")

	connections, open, watches, requests atomic.Int64
	unknown                              sync.Map
)

func certificate() (tls.Certificate, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fail(err)
	template := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fleet"}, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	fail(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func fail(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func writeKubeconfigs(address string, authority []byte) {
	for i := range *members {
		text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://%s/members/%d", certificate-authority-data: %s}}]
users: [{name: u, user: {token: %s}}]
`, address, i, base64.StdEncoding.EncodeToString(authority), token)
		fail(os.WriteFile(filepath.Join(*directory, fmt.Sprintf("member-%d", i)), []byte(text), 0o600))
	}
}

func serve(w http.ResponseWriter, r *http.Request) {
	requests.Add(1)
	index, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/members/"), "/")
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(fleet) || r.Header.Get("Authorization") != "Bearer "+token {
		http.Error(w, "{}", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	m := fleet[i]
	for _, c := range m.collections() {
		if "/"+rest == c.path {
			c.serve(w, r)
			return
		}
	}
	if document := discovery["/"+rest]; document != "" && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		w.Header().Set("Etag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(document))
		return
	}
	if _, said := unknown.LoadOrStore(r.Method+" /"+rest, true); !said {
		log.Printf("not served: %s /%s", r.Method, rest)
	}
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`))
}

func stats() map[string]any {
	var usage syscall.Rusage
	fail(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return map[string]any{"cpu": float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9, "connections": connections.Load(),
		"open": open.Load(), "watches": watches.Load(), "requests": requests.Load()}
}

// command answers one line of standard input.
func command(words []string) any {
	number := func(i int) int {
		n, err := strconv.Atoi(words[i])
		fail(err)
		return n
	}
	switch {
	case len(words) == 3 && change[words[0]] != nil:
		load(change[words[0]], number(1), number(2))
		return stats()
	case len(words) == 2 && words[0] == "probe":
		m := fleet[number(1)]
		sent := time.Now().UnixNano()
		return map[string]any{"sent": sent, "version": m.change(0, change["changes"])}
	case len(words) == 1 && words[0] == "stats":
		return stats()
	}
	return map[string]any{"error": "what is " + strings.Join(words, " ") + "?"}
}

func main() {
	flag.Parse()
	makeFleet()
	pair, authority := certificate()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	writeKubeconfigs(listener.Addr().String(), authority)
	server := &http.Server{Handler: http.HandlerFunc(serve), ErrorLog: log.New(io.Discard, "", 0), // of clients that go
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13,
			NextProtos: []string{"http/1.1"}},
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				connections.Add(1)
				open.Add(1)
			case http.StateClosed, http.StateHijacked:
				open.Add(-1)
			}
		}}
	go func() { fail(server.ServeTLS(listener, "", "")) }()
	out := json.NewEncoder(os.Stdout)
	fail(out.Encode(map[string]any{"ready": true}))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fail(out.Encode(command(strings.Fields(lines.Text()))))
	}
}
