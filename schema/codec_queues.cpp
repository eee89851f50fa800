// Encodes and decodes what decides the quota of Kueue's queues beside their own quotas.
#include "schema/codec_parts.h"

namespace fairlead::stored {

/// The two weights have the same shape.
template <class Weight>
static void write_weight(const std::optional<value::Quantity>& weight, Weight out) {
  if (weight)
    write(*weight, out.initValue());
  else
    out.setNone();
}
template <class Weight>
static std::optional<value::Quantity> read_weight(Weight in) {
  if (in.isNone()) return std::nullopt;
  if (!in.isValue()) throw Malformed{"a weight is neither none nor a quantity"};
  return read(in.getValue());
}

void write(const value::SharingTerms& terms, SharingTerms::Builder out) {
  using Out = SharingTerms::Builder;
  out.setGiven(true);
  write_weight(terms.weight, out.getWeight());
  put(out, &Out::setFlavorFungibility, terms.flavor_fungibility);
  put(out, &Out::setAdmissionScope, terms.admission_scope);
  put(out, &Out::setConcurrentAdmission, terms.concurrent_admission);
  put(out, &Out::setCheckFlavors, terms.check_flavors);
}
std::optional<value::SharingTerms> read(SharingTerms::Reader in) {
  if (!in.getGiven()) return std::nullopt;
  return value::SharingTerms{read_weight(in.getWeight()), read(in.getFlavorFungibility()),
                             read(in.getAdmissionScope()), read(in.getConcurrentAdmission()),
                             read(in.getCheckFlavors())};
}

static void write(const value::CohortTerms& terms, CohortTerms::Builder out) {
  out.setGiven(true);
  put_list(out, &CohortTerms::Builder::initGroups, terms.groups);
  write_weight(terms.weight, out.getWeight());
}
static std::optional<value::CohortTerms> read(CohortTerms::Reader in) {
  if (!in.getGiven()) return std::nullopt;
  return value::CohortTerms{read_list(in.getGroups()), read_weight(in.getWeight())};
}

void write(const value::CohortFacts& cohort, Cohort::Builder out) {
  put(out, &Cohort::Builder::setParent, cohort.parent);
  if (cohort.effective) write(*cohort.effective, out.initEffective());
  if (cohort.terms) write(*cohort.terms, out.initTerms());
}
value::CohortFacts read(Cohort::Reader in) {
  return {read(in.getParent()), read(in.getEffective()), read(in.getTerms())};
}

}  // namespace fairlead::stored
