// Runs the scripts of tests/unit/kube/reflector/: what arrives, a line `----`, and what the
// reflector must say to it. FAIRLEAD_REWRITE=1 writes the answers into the files instead of
// comparing; read the diff.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "connectors/kube/watch/reflector.h"

using namespace fairlead;

namespace {

std::string name_of(const ObjectKey& key) {
  return key.namespace_.empty() ? key.name : key.namespace_ + "/" + key.name;
}

std::string duration_text(LogTime time) {
  return time == kForever ? "never" : to_go_duration({time.ns});
}

struct FactPrinter {
  std::string operator()(const ObjectSeen& seen) const {
    return "seen " + name_of(seen.key) + " " + seen.uid + "@" + seen.resource_version + " " +
           seen.version + (seen.went_back ? " went back" : "");
  }
  std::string operator()(const ObjectMissing& missing) const {
    return "missing " + name_of(missing.key) + " " + missing.uid + "@" + missing.resource_version;
  }
  std::string operator()(const ObjectUnchanged& same) const {
    return "same " + name_of(same.key) + " " + same.uid + "@" + same.resource_version + " " +
           same.version;
  }
  std::string operator()(const ListCompleted& list) const {
    return "listed @" + list.resource_version + (list.went_back ? " went back" : "");
  }
  std::string operator()(const StreamAlive& alive) const {
    return "alive @" + alive.resource_version;
  }
  std::string operator()(const StreamStale& stale) const {
    switch (stale.cause) {
      case StaleCause::silence: return "stale";
      case StaleCause::too_many: return "stale, too many";
      case StaleCause::too_many_changes: return "stale, too many changes";
    }
    return "";
  }
  std::string operator()(const StreamLost&) const { return "lost"; }
};

std::string text_of(const ReflectorOutput& out) {
  std::string text;
  if (out.cancel) text += "cancel\n";
  for (const auto& fact : out.facts) text += std::visit(FactPrinter{}, fact) + "\n";
  for (const DiagnosticLine& line : out.diagnostics)
    text += (line.about == LineAbout::recovery ? "recovered " : "say ") + line.text + "\n";
  if (out.rediscover) text += "rediscover\n";
  if (out.request)
    text +=
        (out.request->kind == ReflectorRequest::Kind::page ? "page " : "watch ") +
        out.request->target +
        (out.request->accept == "application/json" ? ""
                                                   : " as " + std::string(out.request->accept)) +
        "\n";
  return text + "wake " + duration_text(out.wake) + "\n";
}

std::string counters_text(const ReflectorCounters& c) {
  std::ostringstream out;
  out << "lists=" << c.lists << " pages=" << c.pages << " watches=" << c.watches
      << " relists=" << c.relists << " events=" << c.events << " bookmarks=" << c.bookmarks
      << " unchanged=" << c.unchanged << " duplicates=" << c.duplicates << " older=" << c.older
      << " unknown_deletes=" << c.unknown_deletes << " malformed=" << c.malformed
      << " errors=" << c.errors << " silences=" << c.silences;
  if (c.refused > 0) out << " refused=" << c.refused;
  out << "\n";
  return out.str();
}

// One reflector and the clock of its script.
class Stage {
 public:
  Stage() { begin(Kind::cluster_queue); }
  std::string perform(const std::string& line) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    std::string rest;
    std::getline(in >> std::ws, rest);
    if (verb == "at") return now_ = {parse_go_duration(rest).value().ns}, "";
    if (verb == "kind") {
      std::string group = rest.substr(0, rest.find(' '));
      if (group == "core") group.clear();
      begin(find_kind(group, rest.substr(rest.find(' ') + 1)).value());
      return "";
    }
    if (verb == "counters") return counters_text(reflector_->counters());
    if (verb == "bound") return bound(rest), "";
    if (verb == "spans") return spans(rest), "";
    return text_of(deliver(verb, rest));
  }

 private:
  ReflectorOutput deliver(const std::string& verb, const std::string& rest) {
    if (verb == "served")
      return reflector_->served(
          now_, rest == "nothing" ? std::nullopt : std::optional<std::string>(rest));
    if (verb == "expected") return reflector_->expected(now_);
    if (verb == "confine") {
      using Breadth = WatchScope::Breadth;
      if (rest == "nowhere") return reflector_->confine(now_, {Breadth::nowhere, ""});
      if (const std::string_view part = "metadata "; rest.starts_with(part))
        return reflector_->confine(
            now_, {Breadth::everywhere, "", rest.substr(part.size()), ObjectPart::metadata});
      const std::string name = rest.substr(rest.find(' ') + 1);
      return reflector_->confine(
          now_, rest == "everywhere"
                    ? WatchScope{}
                    : WatchScope{rest.starts_with("wish") ? Breadth::everywhere_if_allowed
                                                          : Breadth::one_namespace,
                                 name});
    }
    if (verb == "moved") return reflector_->moved(now_);
    if (verb == "disconnected") return reflector_->disconnected(now_);
    if (verb == "hurry") return reflector_->hurry(now_);
    if (verb == "opened") return reflector_->opened(now_);
    if (verb == "line") return reflector_->bytes(now_, rest + "\n");
    if (verb == "lines") return reflector_->bytes(now_, in_one_chunk(rest));
    if (verb == "bytes") return reflector_->bytes(now_, rest);
    if (verb == "timer") return reflector_->timer(now_);
    std::istringstream in(rest);
    int status = 0;
    std::string body;
    in >> status;
    std::getline(in >> std::ws, body);
    std::optional<Duration> retry_after;
    if (body.starts_with("retry-after="))
      retry_after = parse_go_duration(body.substr(12)), body.clear();
    if (verb == "page") return reflector_->page(now_, status, body, retry_after);
    REQUIRE(verb == "ended");
    return reflector_->ended(now_, status, body, retry_after);
  }

  // "LINE || LINE": the lines of one chunk.
  static std::string in_one_chunk(std::string text) {
    const std::string_view mark = " || ";
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
      text.replace(at, mark.size(), "\n");
    return text + "\n";
  }

  // "OBJECTS", "OBJECTS CHANGES" (a minute) or "OBJECTS CHANGES SHARED" (objects of a server).
  void bound(const std::string& text) {
    ReflectorSettings settings;
    std::istringstream in(text);
    ReadingLimits& limits = settings.limits;
    in >> limits.objects_max >> limits.changes_per_minute;
    if (!(in >> limits.shared_objects_max)) limits.shared_objects_max = limits.objects_max;
    limits.objects_setting = "members.nodesMax";
    reflector_->adjust(now_, settings);
  }

  // "STALE LOST": these spans, and silent streams that are opened again after half of the first.
  void spans(const std::string& text) {
    const std::size_t space = text.find(' ');
    ReflectorSettings settings;
    settings.stale_after = parse_go_duration(text.substr(0, space)).value();
    settings.lost_after = parse_go_duration(text.substr(space + 1)).value();
    settings.watch_silence_max =
        std::min(settings.watch_silence_max, Duration{settings.stale_after.ns / 2});
    reflector_->adjust(now_, settings);
  }

  void begin(Kind kind) {
    reflector_ = std::make_unique<Reflector>(kind, ReflectorSettings{}, load_,
                                             [] { return std::uint64_t{0}; });
  }

  LogTime now_;
  ServerLoad load_;
  std::unique_ptr<Reflector> reflector_;
};

// Blocks are separated by blank lines; a block is input lines, `----`, expected lines.
std::string play(const std::string& script) {
  Stage stage;
  std::string out;
  std::string answers;
  bool expecting = false;
  std::istringstream in(script);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) {
      out += answers + "\n";
      answers.clear();
      expecting = false;
    } else if (expecting) {
      continue;
    } else if (line == "----") {
      out += line + "\n";
      expecting = true;
    } else {
      out += line + "\n";
      if (line[0] != '#') answers += stage.perform(line);
    }
  }
  return out + answers;
}

}  // namespace

TEST_CASE("reflector scripts give the answers written in them") {
  const std::filesystem::path folder = "tests/unit/kube/reflector";
  std::size_t scripts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++scripts;
    std::ifstream in(entry.path());
    const std::string script(std::istreambuf_iterator<char>(in), {});
    const std::string played = play(script);
    if (std::getenv("FAIRLEAD_REWRITE") != nullptr) {
      std::ofstream(entry.path()) << played;
      continue;
    }
    INFO(entry.path().string());
    CHECK(played == script);
  }
  CHECK(scripts >= 6);
}
