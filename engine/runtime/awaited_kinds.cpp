#include "engine/runtime/awaited_kinds.h"

#include <string>

#include "engine/runtime/hub_scope.h"

namespace fairlead {

void AwaitedKinds::follow(const Configuration& configuration) {
  std::set<Kind> all = std::exchange(read_, {});
  const std::set<Kind> unread = std::exchange(unread_, {});
  all.insert(unread.begin(), unread.end());
  for (const Kind kind : all) {
    const bool is_read = is_read_on_hub(kind, configuration);
    (is_read ? read_ : unread_).insert(kind);
    if (!is_read) kinds_.erase(kind);
    if (is_read && unread.contains(kind)) kinds_.insert(kind);
  }
}

void AwaitedKinds::note(const WatchFact& fact) {
  if (const auto* list = std::get_if<ListCompleted>(&fact.said))
    noted_.emplace_back(list->kind, Word::listed);
  if (const auto* lost = std::get_if<StreamLost>(&fact.said); lost && may_stay_unread(lost->kind))
    noted_.emplace_back(lost->kind, Word::lost);
}

void AwaitedKinds::resolve(const Configuration& configuration, const Logger& logger) {
  for (const auto& [kind, word] : std::exchange(noted_, {})) {
    if (word == Word::lost) {
      // In this mode the hub writes policies; one that it cannot read may be another writer's.
      if (kind == Kind::binding_policy && configuration.member_mode == MemberMode::binding_policy)
        continue;
      const std::string namespace_ = hub_namespace(kind, configuration);
      logger({Severity::warn,
              "cannot be read on the hub: going on without it",
              {{"kind", std::string(info(kind).name)},
               {"namespace", namespace_.empty() ? "*" : namespace_}}});
    }
    kinds_.erase(kind);
  }
}

}  // namespace fairlead
