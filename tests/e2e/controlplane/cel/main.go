// The CEL library of Kubernetes, as a program: it says what a scheduler would, so that a test can compare.
//
// Reads one case a line from standard input and writes one answer a line:
//
//	{"expression": "...", "driver": "...", "attributes": {"name": {"string": "..."}}, "capacity": {"name": "1Gi"},
//	 "allowMultipleAllocations": true}
//	{"result": true} | {"error": "..."} | {"compile_error": "..."}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// The longest line: an expression of 10 KiB, each byte of it escaped.
const lineBytesMax = 1 << 20

type attribute struct {
	Int     *int64  `json:"int"`
	Bool    *bool   `json:"bool"`
	String  *string `json:"string"`
	Version *string `json:"version"`
}

type request struct {
	Expression string               `json:"expression"`
	Driver     string               `json:"driver"`
	Attributes map[string]attribute `json:"attributes"`
	Capacity   map[string]string    `json:"capacity"`
	Shared     *bool                `json:"allowMultipleAllocations"`
}

type answer struct {
	Result       *bool  `json:"result,omitempty"`
	Error        string `json:"error,omitempty"`
	CompileError string `json:"compile_error,omitempty"`
}

func device(from request) (dracel.Device, error) {
	made := dracel.Device{
		Driver:                   from.Driver,
		AllowMultipleAllocations: from.Shared,
		Attributes:               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{},
		Capacity:                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{},
	}
	for name, value := range from.Attributes {
		made.Attributes[resourceapi.QualifiedName(name)] = resourceapi.DeviceAttribute{
			IntValue: value.Int, BoolValue: value.Bool, StringValue: value.String, VersionValue: value.Version}
	}
	for name, text := range from.Capacity {
		value, err := resource.ParseQuantity(text)
		if err != nil {
			return made, fmt.Errorf("capacity %s: %w", name, err)
		}
		// An API server stores the canonical spelling, and isInteger() depends on it.
		stored, err := resource.ParseQuantity(value.String())
		if err != nil {
			return made, fmt.Errorf("capacity %s: %w", name, err)
		}
		made.Capacity[resourceapi.QualifiedName(name)] = resourceapi.DeviceCapacity{Value: stored}
	}
	return made, nil
}

// What kube-scheduler 1.36 evaluates selectors with: consumable capacity is on by default, attributes that are lists
// are not. Without the estimate of costs, which only an API server makes.
func evaluate(from request) answer {
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true})
	compiled := compiler.CompileCELExpression(from.Expression, dracel.Options{DisableCostEstimation: true})
	if compiled.Error != nil {
		return answer{CompileError: compiled.Error.Error()}
	}
	input, err := device(from)
	if err != nil {
		return answer{Error: err.Error()}
	}
	matches, _, err := compiled.DeviceMatches(context.Background(), input)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Result: &matches}
}

func run() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 0, 1<<16), lineBytesMax)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for lines.Scan() {
		var from request
		if err := json.Unmarshal(lines.Bytes(), &from); err != nil {
			return err
		}
		if err := encoder.Encode(evaluate(from)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cel-oracle:", err)
		os.Exit(1)
	}
}
