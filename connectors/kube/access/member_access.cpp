#include "connectors/kube/access/member_access.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <set>

#include "connectors/kube/access/exec_plugin.h"
#include "connectors/kube/resource_path.h"
#include "engine/base/base64.h"
#include "engine/base/bounded_file.h"

namespace fairlead {
namespace {

// Since cluster-inventory-api 0.1.3 (Kueue 0.19) two policies replace the flag, and the extensions
// have other names.
constexpr std::string_view kExtensionFlag = "additionalCLIArgEnvVarExtensionFlag";
constexpr std::string_view kArgumentsPolicy = "profileSourcedCLIArgsPolicy";
constexpr std::string_view kVariablesPolicy = "profileSourcedEnvVarsPolicy";
constexpr std::array<std::string_view, 2> kArgumentsExtensions{
    "clusterprofiles.multicluster.x-k8s.io/exec/additional-args",
    "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-args"};
constexpr std::array<std::string_view, 2> kVariablesExtensions{
    "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs",
    "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-envs"};

// How many variables a profile may add to its plugin's.
constexpr std::size_t kVariablesMax = 256;

Error bad_input(std::string what) { return {ErrorCode::bad_input, std::move(what)}; }

// {"team/x"} -> {"team", "x"}. The configuration was checked: there is a slash.
std::pair<std::string, std::string> split_reference(const std::string& reference) {
  const std::size_t slash = reference.find('/');
  return {reference.substr(0, slash), reference.substr(slash + 1)};
}

std::string secrets_of(const std::string& namespace_) {
  return "/api/v1/namespaces/" + url_encode(namespace_) + "/secrets";
}

// One value of a Secret, decoded.
Result<std::string> secret_value(JsonView secret, std::string_view key, const std::string& origin) {
  JsonView value = secret["data"][key];
  if (!value.is(JsonKind::string) || value.text().empty())
    return bad_input(origin + ": it has no key " + std::string(key));
  auto decoded = decode_base64(value.text());
  // (The fault would quote nothing, but it would not name the place either.)
  if (decoded.has_error())
    return bad_input(origin + ": data." + std::string(key) + ": expected base64");
  return decoded;
}

JsonView provider_named(const AccessProviders& providers, std::string_view name) {
  for (JsonView row : providers.document.root()["providers"])
    if (row["name"].string() == name) return row;
  return {};
}

// The providers that count here, and where they are from, for an error.
std::string known_providers(const AccessProviders& providers) {
  const std::string secret(kSecretReader);
  if (providers.origin.empty())
    return "known is " + secret + " alone: --clusterprofile-provider-file is not given";
  std::string names;
  for (JsonView row : providers.document.root()["providers"])
    names += (names.empty() ? "" : ", ") + std::string(row["name"].string());
  return "known are " + (names.empty() ? "none" : names) + " of --clusterprofile-provider-file " +
         providers.origin + ", and " + secret;
}

enum class Addition : std::uint8_t { ignored, where_missing, always };

// What a provider's entry lets a ClusterProfile add to its plugin.
struct Additions {
  Addition arguments{};
  Addition variables{};
};

struct PolicyWord {
  std::string_view field, word;
  Addition addition;
};
constexpr std::array<PolicyWord, 5> kPolicyWords{{
    {kArgumentsPolicy, "Ignore", Addition::ignored},
    {kArgumentsPolicy, "Append", Addition::always},
    {kVariablesPolicy, "Ignore", Addition::ignored},
    {kVariablesPolicy, "AppendIfNotExists", Addition::where_missing},
    {kVariablesPolicy, "Replace", Addition::always},
}};

Result<Addition> policy_of(JsonView provider, std::string_view field, const std::string& where) {
  JsonView value = provider[field];
  if (!value.given()) return Addition::ignored;
  std::string known;
  for (const PolicyWord& row : kPolicyWords) {
    if (row.field != field) continue;
    if (value.string() == row.word) return row.addition;
    known += (known.empty() ? "" : ", ") + std::string(row.word);
  }
  return bad_input(where + "." + std::string(field) + ": expected one of " + known);
}

Result<Additions> additions_of(JsonView provider, const std::string& where) {
  JsonView flag = provider[kExtensionFlag];
  if (flag.string() == "Allow" || flag.integer() == 1)
    return Additions{Addition::always, Addition::always};
  if (flag.given() && flag.string() != "Ignore" && flag.integer() != 0)
    return bad_input(where + "." + std::string(kExtensionFlag) + ": expected Allow or Ignore");
  const auto arguments = policy_of(provider, kArgumentsPolicy, where);
  if (arguments.has_error()) return arguments.error();
  const auto variables = policy_of(provider, kVariablesPolicy, where);
  if (variables.has_error()) return variables.error();
  return Additions{*arguments, *variables};
}

Result<void> add_arguments(ExecPlugin& plugin, JsonView list, const std::string& where) {
  if (!list.is(JsonKind::array)) return bad_input(where + ": expected a list of strings");
  for (JsonView item : list) {
    if (!item.is(JsonKind::string)) return bad_input(where + ": expected a list of strings");
    plugin.args.emplace_back(item.text());
  }
  return {};
}

// Adds the profile's variables. One that the provider has too is replaced, or stays.
Result<void> add_variables(ExecPlugin& plugin, JsonView map, Addition how,
                           const std::string& where) {
  const Error bad = bad_input(where + ": expected names with values that are strings");
  if (!map.is(JsonKind::object)) return bad;
  // Each is compared with each. A program gets no more than ARG_MAX bytes of them anyway.
  if (map.size() > kVariablesMax)
    return bad_input(where + ": expected at most " + std::to_string(kVariablesMax) + " names");
  for (JsonView item : map) {
    const std::string name(item.key());
    if (name.empty() || name.find('=') != std::string::npos || !item.is(JsonKind::string))
      return bad;
    const auto is_it = [&name](const auto& known) { return known.first == name; };
    if (how == Addition::always) std::erase_if(plugin.env, is_it);
    if (std::none_of(plugin.env.begin(), plugin.env.end(), is_it))
      plugin.env.emplace_back(name, item.text());
  }
  return {};
}

// KEP-5339: a cluster's extensions may add to the command of its plugin if the operator's file lets
// them. They decide which command runs here, so without that permission they are ignored.
Result<void> add_extensions(ExecPlugin& plugin, const Additions& allowed, JsonView cluster,
                            const std::string& where) {
  const auto is_one_of = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (JsonView extension : cluster["extensions"]) {
    const std::string name(extension["name"].string());
    const std::string place = where + ".extensions[" + name + "]";
    Result<void> added;
    if (is_one_of(kArgumentsExtensions, name) && allowed.arguments != Addition::ignored)
      added = add_arguments(plugin, extension["extension"], place);
    else if (is_one_of(kVariablesExtensions, name) && allowed.variables != Addition::ignored)
      added = add_variables(plugin, extension["extension"], allowed.variables, place);
    if (!added) return added;
  }
  return {};
}

// Passes credentials on, and why there are none, but nothing twice in a row: objects change in much
// that does not concern their credentials.
class Offers {
 public:
  explicit Offers(std::function<void(Result<Credentials>)> use) : use_(std::move(use)) {}

  void offer(Result<Credentials> next) {
    if (last_ && same(*last_, next)) return;
    last_ = next;
    use_(std::move(next));
  }

 private:
  static bool same(const Result<Credentials>& a, const Result<Credentials>& b) {
    if (a.has_error() || b.has_error())
      return a.has_error() && b.has_error() && a.error().message == b.error().message;
    return same_access(*a, *b);
  }

  const std::function<void(Result<Credentials>)> use_;
  std::optional<Result<Credentials>> last_;
};

class SecretAccess final : public MemberAccess {
 public:
  SecretAccess(ApiServerConnection& hub, const std::string& reference, std::string key,
               std::function<void(Result<Credentials>)> use)
      : origin_("Secret " + reference), key_(std::move(key)), offers_(std::move(use)) {
    auto [namespace_, name] = split_reference(reference);
    follower_ = hub.follow(secrets_of(namespace_), name,
                           [this](std::optional<JsonView> secret) { on_secret(secret); });
  }

 private:
  void on_secret(const std::optional<JsonView>& secret) {
    if (!secret) return offers_.offer(bad_input(origin_ + " is not there"));
    const auto text = secret_value(*secret, key_, origin_);
    offers_.offer(text.has_error() ? Result<Credentials>(text.error())
                                   : read_kubeconfig(*text, origin_, {}));
  }

  const std::string origin_, key_;
  Offers offers_;
  std::unique_ptr<ApiServerConnection::Follower> follower_;  // last: its callback uses the others
};

class ProfileAccess final : public MemberAccess {
 public:
  ProfileAccess(ApiServerConnection& hub, const std::string& reference,
                std::shared_ptr<const AccessProviders> providers,
                std::function<void(Result<Credentials>)> use)
      : hub_(hub),
        reference_(split_reference(reference)),
        origin_("ClusterProfile " + reference),
        secret_origin_("Secret " + reference),
        providers_(std::move(providers)),
        offers_(std::move(use)) {
    profile_follower_ = hub.follow("/apis/multicluster.x-k8s.io/v1alpha1/namespaces/" +
                                       url_encode(reference_.first) + "/clusterprofiles",
                                   reference_.second, [this](std::optional<JsonView> profile) {
                                     profile_ = profile ? to_json(*profile) : Json();
                                     combine();
                                   });
  }

 private:
  void token_read(const std::optional<JsonView>& secret) {
    token_ = secret ? secret_value(*secret, "token", secret_origin_)
                    : bad_input(secret_origin_ + " is not there");
    token_known_ = true;
    combine();
  }

  void combine() {
    if (profile_.is_null()) return offers_.offer(bad_input(origin_ + " is not there"));
    const JsonDocument profile = to_document(profile_);
    auto read = read_cluster_profile(profile.root(), origin_, *providers_,
                                     token_.has_value() ? *token_ : std::string());
    if (read.has_error()) return offers_.offer(read.error());
    // Without a plugin the Secret holds our credentials; only then it is requested, so that a Role
    // need not allow it otherwise.
    if (!read->exec && !secret_follower_)
      secret_follower_ =
          hub_.follow(secrets_of(reference_.first), reference_.second,
                      [this](std::optional<JsonView> secret) { token_read(secret); });
    if (!read->exec && !token_known_) return;
    if (!read->exec && token_.has_error()) return offers_.offer(token_.error());
    offers_.offer(std::move(read));
  }

  ApiServerConnection& hub_;
  const std::pair<std::string, std::string> reference_;  // namespace, name
  const std::string origin_, secret_origin_;
  const std::shared_ptr<const AccessProviders> providers_;
  Json profile_;
  bool token_known_ = false;
  Result<std::string> token_ = std::string();
  Offers offers_;
  // The profile's follower makes the other one, so it ends first: members end in reverse order.
  std::unique_ptr<ApiServerConnection::Follower> secret_follower_, profile_follower_;
};

// A key that is ignored may be a misspelled one, or a rule that this program does not know.
Result<void> expect_keys(JsonView object, std::initializer_list<std::string_view> known,
                         const std::string& where) {
  std::string names;
  for (const std::string_view name : known)
    names += (names.empty() ? "" : ", ") + std::string(name);
  for (JsonView item : object)
    if (std::find(known.begin(), known.end(), item.key()) == known.end())
      return bad_input(where + ": unknown field " + std::string(item.key()) + ", expected " +
                       names);
  return {};
}

Result<void> check_provider(JsonView row, const std::string& where) {
  if (auto good = expect_keys(
          row, {"name", "execConfig", kArgumentsPolicy, kVariablesPolicy, kExtensionFlag}, where);
      !good)
    return good;
  if (auto good = expect_keys(row["execConfig"],
                              {"apiVersion", "command", "args", "env", "installHint",
                               "provideClusterInfo", "interactiveMode"},
                              where + ".execConfig");
      !good)
    return good;
  if (auto plugin = read_exec_plugin(row["execConfig"], {}, {}, where + ".execConfig");
      plugin.has_error())
    return plugin.error();
  if (auto allowed = additions_of(row, where); allowed.has_error()) return allowed.error();
  return {};
}

}  // namespace

Result<std::shared_ptr<const AccessProviders>> load_access_providers(const std::string& path) {
  const auto text = read_bounded(path);
  if (text.has_error()) return text.error();
  auto document = parse_json(*text);
  if (document.has_error()) return in_context(path, document.error());
  auto out = std::make_shared<AccessProviders>();
  out->origin = path;
  out->document = std::move(*document);
  JsonView rows = out->document.root()["providers"];
  if (!rows.is(JsonKind::array)) return bad_input(path + ": providers: expected a list");
  if (auto good = expect_keys(out->document.root(), {"providers"}, path); !good)
    return good.error();
  std::set<std::string> names;
  for (JsonView row : rows) {
    const std::string name(row["name"].string());
    if (name.empty()) return bad_input(path + ": providers: expected a name in each entry");
    if (!names.insert(name).second)
      return bad_input(path + ": providers[" + name + "]: there are two entries of this name");
    if (auto good = check_provider(row, path + ": providers[" + name + "]"); !good)
      return good.error();
  }
  return std::shared_ptr<const AccessProviders>(std::move(out));
}

Result<Credentials> read_cluster_profile(JsonView profile, const std::string& origin,
                                         const AccessProviders& providers,
                                         const std::string& token) {
  std::string offered;
  for (const char* list : {"accessProviders", "credentialProviders"}) {
    for (JsonView row : profile["status"][list]) {
      const std::string name(row["name"].string());
      offered += (offered.empty() ? "" : ", ") + name;
      JsonView known = provider_named(providers, name);
      if (!known.given() && name != kSecretReader) continue;
      const std::string where = std::string("status.") + list + "[" + name + "].cluster";
      auto out = read_cluster_access(row["cluster"], origin, where);
      if (out.has_error()) return out;
      if (!known.given()) {
        out->token = token;
        return out;
      }
      auto plugin = read_exec_plugin(known["execConfig"], row["cluster"], *out,
                                     providers.origin + ": providers[" + name + "].execConfig");
      if (plugin.has_error()) return plugin.error();
      if (const std::filesystem::path command = plugin->command;
          command.is_relative() && command.has_parent_path())
        plugin->command =
            (std::filesystem::absolute(providers.origin).parent_path() / command).string();
      const auto allowed = additions_of(known, providers.origin);
      if (allowed.has_error()) return allowed.error();
      if (auto added = add_extensions(*plugin, *allowed, row["cluster"], origin + ": " + where);
          !added)
        return added.error();
      out->exec = std::move(*plugin);
      return out;
    }
  }
  return bad_input(origin + ": none of its access providers is known here (it has " +
                   (offered.empty() ? "none" : offered) + "; " + known_providers(providers) + ")");
}

std::unique_ptr<MemberAccess> MemberAccess::follow(ApiServerConnection& hub,
                                                   const MemberKubeconfig& member,
                                                   std::shared_ptr<const AccessProviders> providers,
                                                   std::function<void(Result<Credentials>)> use) {
  if (!member.secret_ref.empty())
    return follow_secret(hub, member.secret_ref, "kubeconfig", std::move(use));
  if (!member.cluster_profile.empty())
    return std::make_unique<ProfileAccess>(hub, member.cluster_profile, std::move(providers),
                                           std::move(use));
  return nullptr;
}

std::unique_ptr<MemberAccess> MemberAccess::follow_secret(
    ApiServerConnection& hub, const std::string& reference, const std::string& key,
    std::function<void(Result<Credentials>)> use) {
  return std::make_unique<SecretAccess>(hub, reference, key, std::move(use));
}

}  // namespace fairlead
