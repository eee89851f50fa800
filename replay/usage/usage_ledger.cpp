#include "replay/usage/usage_ledger.h"

#include <algorithm>

namespace fairlead {

UsageRates& UsageRates::operator+=(const UsageRates& more) {
  granted += more.granted;
  used += more.used;
  borrowed += more.borrowed;
  idle += more.idle;
  reserved += more.reserved;
  differs += more.differs;
  return *this;
}

UsageRates& UsageRates::operator-=(const UsageRates& less) {
  granted -= less.granted;
  used -= less.used;
  borrowed -= less.borrowed;
  idle -= less.idle;
  reserved -= less.reserved;
  differs -= less.differs;
  return *this;
}

UsageRates rates_of(const UseAmounts& amounts) {
  UsageRates rates;
  rates.granted = amounts.nominal;
  rates.used = amounts.used;
  rates.borrowed = std::max<Int128>(amounts.used - amounts.nominal, 0);
  rates.idle = std::max<Int128>(amounts.nominal - amounts.used, 0);
  rates.reserved = std::max<Int128>(amounts.reserved - amounts.used, 0);
  const Int128 differs = rates.borrowed - amounts.borrowed;
  rates.differs = differs < 0 ? -differs : differs;
  return rates;
}

UsageTotals& UsageTotals::operator+=(const UsageTotals& more) {
  sums += more.sums;
  capacity += more.capacity;
  down += more.down;
  above += more.above;
  unknown += more.unknown;
  existed += more.existed;
  return *this;
}

void add_rows(UsageRows& sum, const UsageRows& more) {
  for (const auto& [key, totals] : more) sum[key] += totals;
}

std::size_t StreamClocks::of(const SourceName& source, Kind kind) {
  const auto [at, added] = names_.try_emplace({source, kind}, clocks_.size());
  if (added) clocks_.push_back({0, 0, is_unobserved(silent_, source, kind)});
  return at->second;
}

void StreamClocks::advance(Clock& clock, Millis at) const {
  if (!stopped_ && !clock.silent) clock.known += at - clock.at;
  clock.at = at;
}

void StreamClocks::apply(Millis at, const SilenceSign& sign) {
  apply_sign(silent_, sign);
  for (auto name = names_.lower_bound({sign.source, Kind{}});
       name != names_.end() && name->first.first == sign.source; ++name) {
    Clock& clock = clocks_.at(name->second);
    advance(clock, at);
    clock.silent = is_unobserved(silent_, sign.source, name->first.second);
  }
}

void StreamClocks::stop_all(Millis at) {
  for (Clock& clock : clocks_) advance(clock, at);
  stopped_ = true;
}
void StreamClocks::start_all(Millis at) {
  for (Clock& clock : clocks_) advance(clock, at);
  stopped_ = false;
}

Millis StreamClocks::shown_at(std::size_t clock, Millis at) const {
  const Clock& of = clocks_.at(clock);
  return of.known + (stopped_ || of.silent ? 0 : at - of.at);
}

namespace {

void add_product(UsageRates& sums, const UsageRates& rates, Millis span) {
  sums.granted += rates.granted * span;
  sums.used += rates.used * span;
  sums.borrowed += rates.borrowed * span;
  sums.idle += rates.idle * span;
  sums.reserved += rates.reserved * span;
  sums.differs += rates.differs * span;
}

}  // namespace

void UsageLedger::advance(Row& row, const StreamClocks& clocks, Millis at) {
  const Millis shown = clocks.shown_at(row.clock, at);
  const Millis span = shown - row.known;
  const Millis passed = at - row.since;
  row.since = at;
  row.known = shown;
  if (row.members == 0) return;
  add_product(row.totals.sums, row.rates, span);
  row.totals.capacity += row.capacity.accepted * span;
  row.totals.down += row.capacity.down * span;
  if (row.rates.used > row.capacity.accepted) row.totals.above += span;
  row.totals.unknown += passed - span;
  row.totals.existed += passed;
}

void UsageLedger::change(const StreamClocks& clocks, std::size_t clock, Millis at,
                         const UsageRowKey& key, const Change& change) {
  const auto [found, added] = rows_.try_emplace(key);
  Row& row = found->second;
  if (added) {
    row.clock = clock;
    row.since = at;
    row.known = clocks.shown_at(clock, at);
  }
  advance(row, clocks, at);
  row.rates -= change.less;
  row.rates += change.more;
  row.members += change.members;
}

void UsageLedger::set_capacity(const StreamClocks& clocks, Millis at, const UsageRowKey& key,
                               const UsageCapacity& capacity) {
  Row& row = rows_.at(key);
  advance(row, clocks, at);
  row.capacity = capacity;
}

UsageRows UsageLedger::cut(const StreamClocks& clocks, Millis at) {
  UsageRows rows;
  for (auto row = rows_.begin(); row != rows_.end();) {
    advance(row->second, clocks, at);
    if (row->second.totals.existed > 0)
      rows.emplace_hint(rows.end(), row->first, row->second.totals);
    row->second.totals = {};
    row = row->second.members == 0 ? rows_.erase(row) : std::next(row);
  }
  return rows;
}

}  // namespace fairlead
