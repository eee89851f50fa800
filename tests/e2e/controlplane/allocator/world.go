package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/resource"
	apiv1 "k8s.io/kubernetes/pkg/apis/resource/v1"
	apiv1beta2 "k8s.io/kubernetes/pkg/apis/resource/v1beta2"
	"k8s.io/kubernetes/pkg/apis/resource/validation"
)

// world is all that the allocator looks at.
type world struct {
	Node    *corev1.Node                `json:"node"`
	Slices  []*resourcev1.ResourceSlice `json:"slices"`
	Classes []*resourcev1.DeviceClass   `json:"classes"`
	// Rules are applied to the taints of the slices.
	Rules []*resourcev1beta2.DeviceTaintRule `json:"rules"`
	// Claims are to be allocated, in this order.
	Claims []*resourcev1.ResourceClaim `json:"claims"`
	// Allocated are claims whose devices are in use.
	Allocated []*resourcev1.ResourceClaim `json:"allocated"`
}

// parseWorld reads one line, and refuses what an API server would not store: a rule for objects that cannot exist
// cannot be compared.
func parseWorld(line []byte) (*world, error) {
	w := &world{}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(w); err != nil {
		return nil, err
	}
	if w.Node == nil {
		return nil, fmt.Errorf("no node")
	}
	for _, check := range []func() error{w.prepareSlices, w.prepareClasses, w.prepareRules, w.prepareClaims} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func invalid(kind, name string, errors field.ErrorList) error {
	if len(errors) == 0 {
		return nil
	}
	return fmt.Errorf("%s %s is invalid: %w", kind, name, errors.ToAggregate())
}

func (w *world) prepareSlices() error {
	for _, slice := range w.Slices {
		apiv1.SetObjectDefaults_ResourceSlice(slice)
		var internal resource.ResourceSlice
		if err := apiv1.Convert_v1_ResourceSlice_To_resource_ResourceSlice(slice, &internal, nil); err != nil {
			return err
		}
		if err := invalid("ResourceSlice", slice.Name, validation.ValidateResourceSlice(&internal)); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) prepareClasses() error {
	for _, class := range w.Classes {
		var internal resource.DeviceClass
		if err := apiv1.Convert_v1_DeviceClass_To_resource_DeviceClass(class, &internal, nil); err != nil {
			return err
		}
		if err := invalid("DeviceClass", class.Name, validation.ValidateDeviceClass(&internal)); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) prepareRules() error {
	for _, rule := range w.Rules {
		apiv1beta2.SetObjectDefaults_DeviceTaintRule(rule)
		var internal resource.DeviceTaintRule
		if err := apiv1beta2.Convert_v1beta2_DeviceTaintRule_To_resource_DeviceTaintRule(rule, &internal, nil); err != nil {
			return err
		}
		if err := invalid("DeviceTaintRule", rule.Name, validation.ValidateDeviceTaintRule(&internal)); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) prepareClaims() error {
	for _, claim := range append(append([]*resourcev1.ResourceClaim{}, w.Claims...), w.Allocated...) {
		apiv1.SetObjectDefaults_ResourceClaim(claim)
		var internal, before resource.ResourceClaim
		if err := apiv1.Convert_v1_ResourceClaim_To_resource_ResourceClaim(claim, &internal, nil); err != nil {
			return err
		}
		if err := invalid("ResourceClaim", claim.Name, validation.ValidateResourceClaim(&internal)); err != nil {
			return err
		}
		if internal.Status.Allocation == nil {
			continue
		}
		// A status is checked as an update of the claim that has none. It needs a version, as any update.
		internal.ResourceVersion = "1"
		internal.DeepCopyInto(&before)
		before.Status = resource.ResourceClaimStatus{}
		if err := invalid("ResourceClaim", claim.Name, validation.ValidateResourceClaimStatusUpdate(&internal, &before)); err != nil {
			return err
		}
	}
	return nil
}
