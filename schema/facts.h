// Projected facts: what Fairlead keeps of each kind of object.
//
// Each struct in schema/kinds/ is an allow-list of the fields that the engine reads, in canonical
// form: maps and sets sorted bytewise, quantities by value. Objects with equal facts are equal to
// Fairlead, so an update that changes none is not logged. Lists whose order matters to Kueue keep
// it. Behind each struct is the list of its fields (schema/fields/field.h).
#pragma once

#include <variant>

#include "schema/kind.h"
#include "schema/kinds/capacity.h"
#include "schema/kinds/claims.h"
#include "schema/kinds/devices.h"
#include "schema/kinds/fleet.h"
#include "schema/kinds/members.h"
#include "schema/kinds/multikueue.h"
#include "schema/kinds/pool.h"
#include "schema/kinds/queues.h"
#include "schema/kinds/workloads.h"

namespace fairlead {

/// What Facts is one of.
using AnyFacts = FactsOfKinds::In<std::variant>;

/// The facts of one object. The alternative names the kind; see Kind in schema/kind.h.
///
/// A class, so that copies, moves, destruction and comparison of a variant of so many alternatives
/// are compiled once (facts.cpp) and not in each file that holds an event.
class Facts : public AnyFacts {
 public:
  using Base = AnyFacts;
  using AnyFacts::AnyFacts;
  using AnyFacts::operator=;

  Facts();
  Facts(const Facts& other);
  Facts(Facts&& other) noexcept;
  Facts& operator=(const Facts& other);
  Facts& operator=(Facts&& other) noexcept;
  ~Facts();

  friend bool operator==(const Facts& a, const Facts& b);
};

}  // namespace fairlead
