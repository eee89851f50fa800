package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/utils/ptr"
)

// searchMax bounds a search. Worlds that take that long compare nothing, so the end of it is an error.
const searchMax = 5 * time.Second

// Selectors repeat from world to world.
var selectors = cel.NewCache(1000, cel.Features{
	EnableConsumableCapacity: utilfeature.DefaultFeatureGate.Enabled(features.DRAConsumableCapacity),
	EnableListTypeAttributes: utilfeature.DefaultFeatureGate.Enabled(features.DRAListTypeAttributes),
})

// defaultFeatures are those of a scheduler that was started without --feature-gates.
func defaultFeatures() structured.Features {
	enabled := utilfeature.DefaultFeatureGate.Enabled
	return structured.Features{
		AdminAccess:            enabled(features.DRAAdminAccess),
		ConsumableCapacity:     enabled(features.DRAConsumableCapacity),
		DeviceBindingAndStatus: enabled(features.DRADeviceBindingConditions) && enabled(features.DRAResourceClaimDeviceStatus),
		DeviceTaints:           enabled(features.DRADeviceTaints),
		ListTypeAttributes:     enabled(features.DRAListTypeAttributes),
		PartitionableDevices:   enabled(features.DRAPartitionableDevices),
		PrioritizedList:        enabled(features.DRAPrioritizedList),
	}
}

// classes lists the world's DeviceClasses.
type classes []*resourcev1.DeviceClass

func (c classes) List() ([]*resourcev1.DeviceClass, error) { return c, nil }

func (c classes) Get(name string) (*resourcev1.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("deviceclasses"), name)
}

// taintedSlices adds the taints of the rules to the devices that they select, as the scheduler's slice tracker does.
// For the tracker a rule without a selector selects every device, although the API says that it selects none.
func (w *world) taintedSlices() []*resourcev1.ResourceSlice {
	var tainted []*resourcev1.ResourceSlice
	for _, original := range w.Slices {
		slice := original.DeepCopy()
		for _, rule := range w.Rules {
			for i := range slice.Spec.Devices {
				device := &slice.Spec.Devices[i]
				if selector := rule.Spec.DeviceSelector; selector != nil &&
					(ptr.Deref(selector.Driver, slice.Spec.Driver) != slice.Spec.Driver ||
						ptr.Deref(selector.Pool, slice.Spec.Pool.Name) != slice.Spec.Pool.Name ||
						ptr.Deref(selector.Device, device.Name) != device.Name) {
					continue
				}
				device.Taints = append(device.Taints, resourcev1.DeviceTaint{
					Key:    rule.Spec.Taint.Key,
					Value:  rule.Spec.Taint.Value,
					Effect: resourcev1.DeviceTaintEffect(rule.Spec.Taint.Effect),
				})
			}
		}
		tainted = append(tainted, slice)
	}
	return tainted
}

// inUse gathers what the allocated claims use: whole devices, shares by their id, and the capacity that shares take.
// Admin access uses nothing.
func (w *world) inUse() structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range w.Allocated {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
			switch {
			case ptr.Deref(result.AdminAccess, false):
			case result.ShareID == nil:
				state.AllocatedDevices.Insert(id)
			default:
				state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, result.ShareID))
				if result.ConsumedCapacity != nil {
					state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, result.ConsumedCapacity))
				}
			}
		}
	}
	return state
}

func (w *world) allocate() answer {
	ctx, cancel := context.WithTimeout(context.Background(), searchMax)
	defer cancel()
	allocator, err := structured.NewAllocator(ctx, defaultFeatures(), w.inUse(), classes(w.Classes), w.taintedSlices(), selectors)
	if err != nil {
		return answer{Error: err.Error()}
	}
	results, err := allocator.Allocate(ctx, w.Node, w.Claims)
	if errors.Is(err, context.DeadlineExceeded) {
		return answer{Error: "the search took too long"}
	}
	if err != nil {
		return answer{Fits: ptr.To(false), Why: err.Error()}
	}
	// The allocator says "no solution" with no results, and so it says of no claims.
	if len(results) != len(w.Claims) {
		return answer{Fits: ptr.To(false)}
	}
	return answer{Fits: ptr.To(true), Devices: w.devices(results)}
}

func (w *world) devices(results []resourcev1.AllocationResult) []device {
	var found []device
	shares := 0
	for i, allocation := range results {
		for _, result := range allocation.Devices.Results {
			one := device{
				Claim:       w.Claims[i].Name,
				Request:     result.Request,
				Driver:      result.Driver,
				Pool:        result.Pool,
				Device:      result.Device,
				AdminAccess: ptr.Deref(result.AdminAccess, false),
			}
			if result.ShareID != nil {
				shares++
				one.ShareID = fmt.Sprint(shares)
			}
			for name, amount := range result.ConsumedCapacity {
				if one.ConsumedCapacity == nil {
					one.ConsumedCapacity = map[string]string{}
				}
				one.ConsumedCapacity[string(name)] = amount.String()
			}
			found = append(found, one)
		}
	}
	return found
}
