// The private state of Model, for its own source files only.
#pragma once

#include <map>
#include <variant>

#include "engine/fleet/model/managed_fields.h"
#include "engine/fleet/model/model.h"
#include "engine/fleet/model/selector.h"
#include "engine/fleet/model/table.h"

namespace fairlead::model {

/// The form of objects that a client asks for.
enum class Form : std::uint8_t { object, table, metadata };

/// A request whose path named a resource.
struct ResourceRequest {
  const ApiRequest& http;
  const ResourceDefinition* definition = nullptr;
  const ResourceVersion* version = nullptr;
  std::string namespace_;
  std::string name;
  std::string subresource;
  Form form = Form::object;
  std::vector<std::string> warnings;

  /// `clusterqueues.kueue.x-k8s.io "a"`.
  ObjectName named(const std::string& object) const {
    return {definition->group, definition->plural, object};
  }
  std::string resource() const { return definition->plural + "." + definition->group; }
  std::string key(const std::string& object) const {
    return definition->namespaced ? namespace_ + "/" + object : object;
  }
};

/// One running watch.
struct Watcher {
  std::weak_ptr<WatchStream> stream;
  const ResourceVersion* version;
  std::string resource;
  std::string key_prefix;  ///< `namespace/`, or empty
  Selector selector;
  Form form;
  RowObject row_object;
  bool bookmarks;
  bool columns_sent = false;
};

/// An object as the answer to a write.
ApiAnswer object_answer(int code, const Json& object);

struct Model::State {
  State(Clock& time, ModelOptions chosen)
      : clock(time), options(std::move(chosen)), store(options.history_max) {}

  Clock& clock;
  ModelOptions options;
  ObjectStore store;
  std::map<std::string, std::unique_ptr<ResourceDefinition>> definitions;  ///< by `plural.group`
  std::vector<std::unique_ptr<ResourceDefinition>>
      retired;  ///< replaced ones, kept because requests may point to them
  std::vector<std::unique_ptr<Watcher>> watchers;
  std::uint64_t ids = 0;  ///< how many uids and names were made
  Observer observer;
  std::vector<Change> changes;  ///< of the request that is carried out; empty without an observer

  // The methods are the verbs of one server over one store, grouped by the file that has them. They
  // are one class because each verb reads the definitions, writes the store and notifies the
  // watches: a class for each group would get all three, and nothing else.

  // model.cpp
  std::string now_text() const;
  std::string make_id(std::string_view purpose);
  const ResourceDefinition* find(const std::string& group, const std::string& plural) const;
  void add_definition(ResourceDefinition definition);
  void remove_definition(const std::string& resource);
  Outcome<ApiAnswer> route(ResourceRequest& request);

  // model_reads.cpp
  Outcome<ApiAnswer> get(ResourceRequest& request);
  Outcome<ApiAnswer> list(ResourceRequest& request);
  Outcome<ApiAnswer> watch(ResourceRequest& request);
  /// Returns a stored object in the request's version.
  static Json in_version(const Json& stored, const ResourceDefinition& definition,
                         const ResourceVersion& version);
  Json in_form(const ResourceRequest& request, const Json& object) const;
  Outcome<ApiAnswer> list_page(const ResourceRequest& request, const Selector& selector,
                               std::uint64_t revision, const std::string& after) const;
  /// The beginning of a watch: the changes since a version, or the stored objects (which a watch
  /// from version 0 gets, too) and, where bookmarks are asked for, the mark of their end.
  enum class WatchStart : std::uint8_t { changes, objects };
  void begin_watch(Watcher& watcher, WatchStream& stream, std::uint64_t from, WatchStart start);
  std::string bookmark_line(const Watcher& watcher, const Json& annotations) const;
  void notify(Watcher& watcher, const Change& change) const;
  void publish(const Change& change);

  // model_writes.cpp
  Outcome<ApiAnswer> create(ResourceRequest& request);
  Outcome<ApiAnswer> update(ResourceRequest& request);
  Outcome<ApiAnswer> patch(ResourceRequest& request);
  Outcome<ApiAnswer> remove(ResourceRequest& request);
  Outcome<ApiAnswer> remove_collection(ResourceRequest& request);

  Outcome<Json> decode_body(ResourceRequest& request) const;
  Outcome<std::monostate> coerce(ResourceRequest& request, Json& object) const;
  static void keep_own_part(const ResourceRequest& request, const Json& old, Json& object);
  Outcome<Json> store_new(ResourceRequest& request, Json object, const Json& applied_fields);
  Outcome<Json> store_changed(ResourceRequest& request, const Json& old, Json object);
  Outcome<Json> read_applied(const ResourceRequest& request) const;
  Outcome<ApiAnswer> patch_by_apply(ResourceRequest& request, const ObjectRef& stored);
  Outcome<Json> remove_one(ResourceRequest& request, const std::string& name, const Json& how);
  WriteIdentity writer(const ResourceRequest& request) const;
  static Door door(const ResourceRequest& request);

  // model_kinds.cpp: the server's own actions for some kinds
  /// Adds fields that the server writes in the name of the writer.
  void prepare_built_in(const ResourceDefinition& definition, Json& object) const;
  /// Adds fields that the server writes for itself, so that no manager owns them.
  void complete_built_in(const ResourceDefinition& definition, Json& object) const;
  Outcome<std::monostate> after_write(const ResourceDefinition& definition, const Json& object);
  void after_removal(const ResourceDefinition& definition, const Json& last);
  Outcome<std::monostate> check_namespace(const ResourceRequest& request) const;
  void drain_namespace(const std::string& name);
  const Change& commit(const std::string& resource, const std::string& key, Json object);
  void erase(const ResourceDefinition& definition, const std::string& key);
};

}  // namespace fairlead::model
