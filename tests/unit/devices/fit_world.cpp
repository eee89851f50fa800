#include "tests/unit/devices/fit_world.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <sstream>

namespace fairlead {
namespace {

using Words = std::vector<std::string>;

// Splits at `separator`, but not within braces.
Words split_words(const std::string& text, char separator) {
  Words words;
  std::string word;
  int depth = 0;
  for (const char c : text + separator) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c != separator || depth > 0) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

// Returns what follows `prefix`; nullopt if the word does not begin with it.
std::optional<std::string> after(const std::string& word, const std::string& prefix) {
  if (!word.starts_with(prefix)) return std::nullopt;
  return word.substr(prefix.size());
}

std::pair<std::string, std::string> halves(const std::string& word, char at) {
  const auto cut = word.find(at);
  if (cut == std::string::npos) return {word, {}};
  return {word.substr(0, cut), word.substr(cut + 1)};
}

Quantity amount(const std::string& word) {
  const auto value = Quantity::parse(word);
  INFO("an amount: " << word);
  REQUIRE(value);
  return *value;
}

// KEY[=VALUE]:EFFECT
Taint read_taint(const std::string& word) {
  const auto [what, effect] = halves(word, ':');
  const auto [key, value] = halves(what, '=');
  return {key, value, effect};
}

// KEY[=VALUE][:EFFECT], where * is any key and a key without value tolerates any value.
Toleration read_toleration(const std::string& word) {
  const auto [what, effect] = halves(word, ':');
  const auto [key, value] = halves(what, '=');
  if (what == "*") return {"", "Exists", "", effect};
  if (what.find('=') == std::string::npos) return {key, "Exists", "", effect};
  return {key, "", value, effect};
}

NodeSelector where(const std::string& label) {
  const auto [key, value] = halves(label, '=');
  return {{{{{key, "In", {value}}}, {}}}};
}

bool read_reach(const std::string& word, NodeReach& reach) {
  if (const auto node = after(word, "on=")) {
    reach = {NodeReachKind::node, *node, {}};
  } else if (const auto label = after(word, "where=")) {
    reach = {NodeReachKind::selector, {}, where(*label)};
  } else if (word == "everywhere") {
    reach = {NodeReachKind::all, {}, {}};
  } else if (word == "each") {
    reach = {NodeReachKind::devices, {}, {}};
  } else {
    return false;
  }
  return true;
}

// [DRIVER/]POOL, of driver `d` if none is named.
std::pair<std::string, std::string> read_pool(const std::string& word) {
  const auto [driver, pool] = halves(word, '/');
  if (pool.empty()) return {"d", driver};
  return {driver, pool};
}

// [DRIVER/]POOL/DEVICE
DeviceId read_device_id(const std::string& word) {
  const auto cut = word.rfind('/');
  const auto [driver, pool] = read_pool(word.substr(0, cut));
  return {driver, pool, word.substr(cut + 1)};
}

// NAME=VALUE[/default=..][/min=..][/max=..][/step=..][/value=..]...
DeviceCapacity read_capacity(const std::string& word) {
  const auto [name, rest] = halves(word, '=');
  const Words parts = split_words(rest, '/');
  DeviceCapacity capacity;
  capacity.name = name;
  capacity.value = amount(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!capacity.policy) capacity.policy.emplace();
    const auto [rule, limit] = halves(parts[i], '=');
    if (rule == "default") capacity.policy->standard = amount(limit);
    if (rule == "min") capacity.policy->min = amount(limit);
    if (rule == "max") capacity.policy->max = amount(limit);
    if (rule == "step") capacity.policy->step = amount(limit);
    if (rule == "value") capacity.policy->values.push_back(amount(limit));
  }
  return capacity;
}

void add_consumption(const std::string& word, std::vector<CounterSet>& sets) {
  const auto [counter, value] = halves(word, '=');
  const auto [set, name] = halves(counter, '.');
  if (sets.empty() || sets.back().name != set) sets.push_back({set, {}});
  sets.back().counters[name] = amount(value);
}

// NAME[{what,what,...}]
DeviceFacts read_device(const std::string& word) {
  const auto [name, rest] = halves(word, '{');
  DeviceFacts device;
  device.name = name;
  DeviceExtras extras;
  std::map<std::string, std::string> attributes;
  std::vector<DeviceCapacity> capacities;
  for (const std::string& what : split_words(rest.substr(0, rest.rfind('}')), ',')) {
    if (read_reach(what, extras.reach)) continue;
    if (const auto attribute = after(what, ".")) {
      attributes.insert(halves(*attribute, '='));
    } else if (const auto counter = after(what, "set:")) {
      add_consumption(*counter, extras.consumes);
    } else if (const auto taint = after(what, "taint:")) {
      extras.taints.push_back(read_taint(*taint));
    } else if (what == "shared") {
      extras.shared = true;
    } else if (what == "binds") {
      extras.binds = true;
    } else {
      capacities.push_back(read_capacity(what));
    }
  }
  device.capacity = std::move(capacities);
  device.attributes = attributes;
  if (!(extras == DeviceExtras{})) device.extras = extras;
  return device;
}

// Selectors stand behind `when`, several with `then` between them.
std::vector<DeviceSelector> read_selectors(const std::string& line) {
  std::vector<DeviceSelector> selectors;
  auto at = line.find(" when ");
  while (at != std::string::npos) {
    at += 6;
    const auto end = line.find(" then ", at);
    const auto text = line.substr(at, end == std::string::npos ? end : end - at);
    DeviceSelector& selector = selectors.emplace_back();
    if (text != "UNKNOWN") selector.cel = text;
    at = end;
  }
  return selectors;
}

void read_ask(const Words& words, std::size_t first, const std::string& line, DeviceAsk& ask) {
  for (std::size_t i = first; i < words.size() && words[i] != "when"; ++i) {
    const std::string& word = words[i];
    if (const auto chosen = after(word, "class=")) {
      ask.device_class = *chosen;
    } else if (const auto count = after(word, "count=")) {
      ask.count = std::stoll(*count);
    } else if (word == "all") {
      ask.mode = AllocationMode::all;
    } else if (word == "some") {
      ask.mode = AllocationMode::unknown;
    } else if (word == "admin") {
      ask.admin = true;
    } else if (const auto toleration = after(word, "tolerates:")) {
      ask.tolerations.push_back(read_toleration(*toleration));
    } else {
      const auto [name, value] = halves(word, '=');
      ask.capacity[name] = amount(value);
    }
  }
  ask.selectors = read_selectors(line);
}

std::string short_id(const DeviceId& id) {
  return (id.driver == "d" ? "" : id.driver + "/") + id.pool + "/" + id.device;
}

std::string shown(const FitPod& pod) {
  std::string line = pod.node;
  for (const FitClaim& claim : pod.claims) {
    if (claim.of_plugin > 0) line += " " + claim.entry + "=" + std::to_string(claim.of_plugin);
    for (const FitDevice& device : claim.devices) {
      line += " " + claim.entry + "/" + device.request + "=" + short_id(device.device);
      std::string amounts;
      for (const auto& [name, value] : device.consumed)
        amounts += (amounts.empty() ? "" : ",") + name + "=" + value.text();
      if (device.share) line += "{" + amounts + "}";
      if (device.admin) line += ",admin";
    }
  }
  return line;
}

}  // namespace

void FitWorld::read(const std::string& line) {
  const Words words = split_words(line, ' ');
  INFO(line);
  const std::string& what = words.front();
  if (what == "node") return node(words);
  if (what == "slice") return slice(words);
  if (what == "class") return device_class(words, line);
  if (what == "rule") return taint_rule(words);
  if (what == "used" || what == "reserved") return uses(words);
  if (what == "claim") return claim(words);
  if (what == "pods") return pods(words);
  if (what == "entry") return entry(words);
  if (what == "request" || what == "or") return request(words, line);
  if (what == "match" || what == "distinct" || what == "constraint") return constraint(words);
  if (what == "resource") {
    const auto [name, count] = halves(words[1], '=');
    pod_sets_.back().pod.extended[name] = std::stoll(count);
  } else if (what == "given") {
    extended_.insert(words[1]);
  } else if (what == "flavor") {
    flavor_.push_back(read_toleration(words[1]));
  } else if (what == "steps") {
    steps_max_ = std::stoll(words[1]);
  } else if (what == "delete") {
    devices_.erase_slice(words[1]);
    slices_.erase(words[1]);
  } else if (what == "show") {
    (words[1] == "free" ? show_free_ : show_steps_) = true;
  } else {
    FAIL("what is a " << what << "?");
  }
}

void FitWorld::node(const Words& words) {
  NodeFacts& facts = nodes_[words[1]] = {};
  facts.ready = true;
  std::map<std::string, std::string> labels;
  std::map<std::string, Amount> allocatable;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "unready") {
      facts.ready = false;
    } else if (words[i] == "cordoned") {
      facts.unschedulable = true;
    } else if (const auto taint = after(words[i], "taint:")) {
      facts.taints.push_back(read_taint(*taint));
    } else if (const auto offer = after(words[i], "offers:")) {
      const auto [name, count] = halves(*offer, '=');
      allocatable[name] = std::stoll(count);
    } else {
      labels.insert(halves(words[i], '='));
    }
  }
  facts.labels = labels;
  facts.allocatable = allocatable;
  devices_.set_node(words[1], facts);
}

void FitWorld::slice(const Words& words) {
  ResourceSliceFacts& facts = slices_[words[1]] = {};
  const auto [driver, pool] = read_pool(words[2]);
  facts.driver = driver;
  facts.pool = pool;
  facts.generation = 1;
  facts.slice_count = 1;
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (read_reach(words[i], facts.reach)) continue;
    if (const auto generation = after(words[i], "generation=")) {
      facts.generation = std::stoll(*generation);
    } else if (const auto count = after(words[i], "of=")) {
      facts.slice_count = std::stoll(*count);
    } else if (const auto set = after(words[i], "set:")) {
      const auto [name, counters] = halves(*set, '{');
      CounterSet& made = facts.counters.emplace_back(CounterSet{name, {}});
      for (const auto& counter : split_words(counters.substr(0, counters.size() - 1), ',')) {
        const auto [key, value] = halves(counter, '=');
        made.counters[key] = amount(value);
      }
    } else {
      facts.devices.push_back(read_device(words[i]));
    }
  }
  devices_.set_slice(words[1], facts);
}

void FitWorld::device_class(const Words& words, const std::string& line) {
  DeviceClassFacts& facts = classes_[words[1]] = {};
  for (std::size_t i = 2; i < words.size() && words[i] != "when"; ++i) {
    if (const auto resource = after(words[i], "gives=")) facts.extended_resource = *resource;
    if (const auto created = after(words[i], "created=")) facts.created = std::stoll(*created);
  }
  facts.selectors = read_selectors(line);
  if (!facts.extended_resource.empty()) extended_.insert(facts.extended_resource);
  devices_.set_class(words[1], facts);
}

void FitWorld::taint_rule(const Words& words) {
  DeviceTaintRuleFacts& facts = rules_[words[1]] = {};
  facts.selects = true;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (const auto driver = after(words[i], "driver=")) facts.driver = *driver;
    if (const auto pool = after(words[i], "pool=")) facts.pool = *pool;
    if (const auto device = after(words[i], "device=")) facts.device = *device;
    if (const auto taint = after(words[i], "taint:")) facts.taint = read_taint(*taint);
  }
  devices_.set_taint_rule(words[1], facts);
}

void FitWorld::uses(const Words& words) {
  ClaimAllocation allocation;
  std::vector<PluginUse> of_plugins;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (const auto [node, amount] = halves(words[i], ':'); !amount.empty()) {
      const auto [resource, count] = halves(amount, '=');
      of_plugins.push_back({node, resource, std::stoll(count)});
      continue;
    }
    const auto [name, rest] = halves(words[i], '{');
    const DeviceId id = read_device_id(name);
    AllocatedDevice& device = allocation.devices.emplace_back();
    device.driver = id.driver;
    device.pool = id.pool;
    device.device = id.device;
    for (const std::string& what : split_words(rest.substr(0, rest.rfind('}')), ',')) {
      const auto [key, value] = halves(what, '=');
      if (what == "admin")
        device.admin = true;
      else if (what == "share")
        device.share = "1";
      else
        device.consumed[key] = amount(value);
    }
  }
  auto made = pin_uses(allocation, [&](const DeviceId& id) { return devices_.published(id); });
  if (words[0] == "used") return devices_.set_uses(words[1], std::move(made));
  for (DeviceUse& use : made) use.cost = UseCost::published, use.counters.clear();
  devices_.set_reservation(words[1], std::move(made), std::move(of_plugins));
}

void FitWorld::claim(const Words& words) {
  ResourceClaimFacts& facts = claims_[words[1]] = {};
  spec_ = &facts.spec;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "allocated") facts.allocation.emplace();
    if (const auto node = after(words[i], "on="))
      facts.allocation.emplace().selector = {{{{}, {{"metadata.name", "In", {*node}}}}}};
    if (const auto label = after(words[i], "where="))
      facts.allocation.emplace().selector = where(*label);
    if (const auto count = after(words[i], "consumers="))
      facts.reserved_for.resize(std::stoul(*count));
    if (const auto device = after(words[i], "holds="))
      held_[words[1]].push_back(read_device_id(*device));
  }
}

void FitWorld::pods(const Words& words) {
  PodSet& set = pod_sets_.emplace_back();
  set.name = words[1];
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (const auto count = after(words[i], "count="))
      set.count = std::stoll(*count);
    else if (const auto toleration = after(words[i], "tolerates:"))
      set.pod.tolerations.push_back(read_toleration(*toleration));
    else if (const auto label = after(words[i], "where="))
      set.pod.affinity = where(*label);
    else
      set.pod.node_selector.insert(halves(words[i], '='));
  }
}

void FitWorld::entry(const Words& words) {
  PodSet& set = pod_sets_.back();
  PodClaim& claim = set.pod.claims.emplace_back();
  claim.name = words[1];
  if (words.size() > 2) {
    if (const auto name = after(words[2], "claim=")) claim.claim = *name;
    if (const auto name = after(words[2], "template=")) claim.template_ = *name;
    return;
  }
  claim.template_ = set.name + "-" + claim.name;
  spec_ = &templates_[claim.template_].spec;
}

void FitWorld::request(const Words& words, const std::string& line) {
  REQUIRE(spec_);
  if (words[0] == "or") {
    DeviceAsk& ask = spec_->requests.back().asks.emplace_back();
    spec_->requests.back().alternatives = true;
    ask.name = words[1];
    return read_ask(words, 2, line, ask);
  }
  DeviceRequest& made = spec_->requests.emplace_back();
  made.name = words[1];
  if (words.size() > 2) read_ask(words, 2, line, made.asks.emplace_back());
}

void FitWorld::constraint(const Words& words) {
  REQUIRE(spec_);
  DeviceConstraint& made = spec_->constraints.emplace_back();
  if (words[0] == "match") made.match = words[1];
  if (words[0] == "distinct") made.distinct = words[1];
  if (words.size() > 2) made.requests.assign(words.begin() + 2, words.end());
}

FitQuestion FitWorld::question() {
  FitQuestion question;
  for (const PodSet& set : pod_sets_) question.pod_sets.push_back({set.name, set.count, &set.pod});
  question.template_of = [this](const std::string& name) {
    const auto at = templates_.find(name);
    return at == templates_.end() ? nullptr : &at->second;
  };
  question.claim_of = [this](const std::string& name) -> std::optional<NamedClaim> {
    const auto at = claims_.find(name);
    if (at == claims_.end()) return std::nullopt;
    const auto held = held_.find(name);
    return NamedClaim{&at->second, held == held_.end() ? nullptr : &held->second};
  };
  question.flavor_tolerations = [this](const std::string&) { return &flavor_; };
  question.extended = extended_;
  question.steps_max = steps_max_;
  return question;
}

std::string FitWorld::answer() {
  const FitQuestion asked = question();
  const FitAnswer found = fit(devices_, asked);
  std::string text;
  if (found.refusal) {
    const std::string& detail = found.refusal->detail;
    text = std::string(fairlead::text_of(found.refusal->reason)) + (detail.empty() ? "" : " ") +
           detail;
    text += "\n";
  }
  for (const FitPod& pod : found.pods) text += shown(pod) + "\n";
  if (found.alternatives > 0) text += "alternatives " + std::to_string(found.alternatives) + "\n";
  if (show_free_)
    text += "free " + std::to_string(free_devices_after(devices_, asked, found)) + "\n";
  if (show_steps_) text += "steps " + std::to_string(found.steps) + "\n";
  return text;
}

}  // namespace fairlead
