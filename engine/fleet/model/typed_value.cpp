#include "engine/fleet/model/typed_value.h"

#include <map>
#include <set>

namespace fairlead::model {
namespace {

/// How a value is divided for ownership.
enum class Shape : std::uint8_t { leaf, map, list };

Shape shape_of(const Json& value, const SchemaRef& schema) {
  if (value.is_object()) {
    if (schema && (schema->atomic_map || schema->int_or_string)) return Shape::leaf;
    return Shape::map;
  }
  // Lists without a schema are atomic, as those without a list type.
  if (value.is_array() && schema && schema->list_type != ListType::atomic) return Shape::list;
  return Shape::leaf;
}

SchemaRef field_schema(const SchemaRef& schema, const std::string& name) {
  return schema ? schema->field(name) : nullptr;
}
SchemaRef item_schema(const SchemaRef& schema) { return schema ? schema->items : nullptr; }
bool declares(const SchemaRef& schema, const std::string& name) {
  return schema && schema->declares(name);
}
std::string field_element(const std::string& name) { return "f:" + name; }

/// The path element of a member of a set or list map.
std::string item_element(const Json& item, const SchemaRef& schema) {
  if (schema->list_type == ListType::set) return "v:" + to_text(item);
  Json key = Json::object();
  for (const std::string& name : schema->list_keys) {
    SchemaRef field = field_schema(schema->items, name);
    if (item.is_object() && item.contains(name))
      key[name] = item[name];
    else if (field && field->default_value)
      key[name] = *field->default_value;
  }
  return "k:" + to_text(key);
}

/// The members of an associative list by element; of equal ones the first counts.
std::map<std::string, const Json*> indexed(const Json* list, const SchemaRef& schema) {
  std::map<std::string, const Json*> members;
  if (list != nullptr && list->is_array())
    for (const Json& item : *list) members.emplace(item_element(item, schema), &item);
  return members;
}

const Json* member(const Json* object, const std::string& name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

bool empty_or_null(const Json* value) { return value == nullptr || value->empty(); }

void collect_fields(const Json& value, const SchemaRef& schema, FieldPath& path, FieldSet& set) {
  const Shape shape = shape_of(value, schema);
  if (shape == Shape::leaf || value.empty()) {
    set.insert(path);
    return;
  }
  if (shape == Shape::list) {
    for (const Json& item : value) {
      path.push_back(item_element(item, schema));
      collect_fields(item, item_schema(schema), path, set);
      set.insert(path);
      path.pop_back();
    }
    return;
  }
  for (const auto& [name, field] : value.items()) {
    path.push_back(field_element(name));
    collect_fields(field, field_schema(schema, name), path, set);
    // As structured-merge-diff: a declared field is owned by what is in it, an entry of a map also
    // by itself.
    const bool empty = field.is_null() || (field.is_object() && field.empty());
    if (empty || !declares(schema, name)) set.insert(path);
    path.pop_back();
  }
}

class Comparer {
 public:
  Comparison result;

  void visit(const Json* before, const Json* after, const SchemaRef& schema, FieldPath& path) {
    // Null has the shape of the other side.
    const bool only_right = before == nullptr || (before->is_null() && after != nullptr);
    const Shape left = shape_of(only_right ? *after : *before, schema);
    const Shape right = after == nullptr || after->is_null() ? left : shape_of(*after, schema);
    const bool leaf =
        left != right || left == Shape::leaf || (empty_or_null(before) && empty_or_null(after));
    if (leaf) return compare_leaf(before, after, path);
    if (left == Shape::map)
      visit_map(before, after, schema, path);
    else
      visit_list(before, after, schema, path);
    if (path.empty()) return;
    if (before == nullptr) result.added.insert(path);
    if (after == nullptr) result.removed.insert(path);
  }

 private:
  void compare_leaf(const Json* before, const Json* after, const FieldPath& path) {
    if (before == nullptr)
      result.added.insert(path);
    else if (after == nullptr)
      result.removed.insert(path);
    else if (*before != *after)
      result.modified.insert(path);
  }

  void visit_map(const Json* before, const Json* after, const SchemaRef& schema, FieldPath& path) {
    std::set<std::string> names;
    for (const Json* side : {before, after})
      if (side != nullptr && side->is_object())
        for (const auto& field : side->items()) names.insert(field.key());
    for (const std::string& name : names) {
      path.push_back(field_element(name));
      visit(member(before, name), member(after, name), field_schema(schema, name), path);
      path.pop_back();
    }
  }

  void visit_list(const Json* before, const Json* after, const SchemaRef& schema, FieldPath& path) {
    auto left = indexed(before, schema), right = indexed(after, schema);
    std::set<std::string> elements;
    for (const auto& entry : left) elements.insert(entry.first);
    for (const auto& entry : right) elements.insert(entry.first);
    for (const std::string& element : elements) {
      auto was = left.find(element), is = right.find(element);
      path.push_back(element);
      visit(was == left.end() ? nullptr : was->second, is == right.end() ? nullptr : is->second,
            item_schema(schema), path);
      path.pop_back();
    }
  }
};

Json merge_values(const Json* base, const Json* over, const SchemaRef& schema);

/// Walks both lists at once, so that an order on which they agree survives (structured-merge-diff's
/// rule).
class ListMerger {
 public:
  ListMerger(const Json& base, const Json& over, const SchemaRef& schema)
      : schema_(schema), base_(indexed(&base, schema)), over_(indexed(&over, schema)) {
    for (const Json& item : base) left_.push_back(item_element(item, schema));
    for (const Json& item : over) right_.push_back(item_element(item, schema));
    for (const std::string& element : right_)
      if (base_.contains(element)) shared_.push_back(element);
  }

  Json run() {
    while (l_ < left_.size() || r_ < right_.size()) step();
    return std::move(out_);
  }

 private:
  bool at_next_shared(const std::string& element) const {
    return next_ < shared_.size() && shared_[next_] == element;
  }

  void insert(const std::string& element) {
    auto was = base_.find(element), is = over_.find(element);
    out_.push_back(merge_values(was == base_.end() ? nullptr : was->second,
                                is == over_.end() ? nullptr : is->second, schema_->items));
  }

  void step() {
    if (l_ < left_.size() && r_ < right_.size()) {
      const std::string& element = left_[l_];
      if (element == right_[r_]) {
        done_.insert(element);
        insert(element);
        ++l_, ++r_, ++next_;
        return;
      }
      if (over_.contains(element) && next_ < shared_.size() && !at_next_shared(element)) {
        ++l_;  // shared, but not next in the other list
        return;
      }
    }
    if (l_ < left_.size()) {
      const std::string& element = left_[l_];
      if (!over_.contains(element)) {
        insert(element);
        ++l_;
        return;
      }
      if (done_.contains(element)) ++l_;
    }
    // Each step moves in one of the lists: where the right one is at its end, all that it has is
    // done.
    if (r_ < right_.size()) {
      const std::string& element = right_[r_];
      done_.insert(element);
      insert(element);
      if (at_next_shared(element)) ++next_;
      ++r_;
    }
  }

  SchemaRef schema_;
  std::map<std::string, const Json*> base_, over_;
  std::vector<std::string> left_, right_, shared_;
  std::set<std::string> done_;
  std::size_t l_ = 0, r_ = 0, next_ = 0;
  Json out_ = Json::array();
};

Json merge_values(const Json* base, const Json* over, const SchemaRef& schema) {
  if (over == nullptr) return *base;
  if (base == nullptr) return *over;
  const Shape shape = shape_of(*over, schema);
  if (shape == Shape::leaf || shape != shape_of(*base, schema)) return *over;
  if (shape == Shape::list) return over->empty() ? *over : ListMerger(*base, *over, schema).run();
  Json out = *base;
  for (const auto& [name, field] : over->items())
    out[name] = merge_values(member(base, name), &field, field_schema(schema, name));
  return out;
}

Json remove_at(const Json& value, const FieldSet& fields, const SchemaRef& schema) {
  const Shape shape = shape_of(value, schema);
  if (shape == Shape::leaf || value.empty()) return value;
  Json out = shape == Shape::list ? Json::array() : Json::object();
  if (shape == Shape::list) {
    for (const Json& item : value) {
      const std::string element = item_element(item, schema);
      if (fields.has_member(element)) continue;
      const FieldSet* below = fields.below(element);
      out.push_back(below != nullptr ? remove_at(item, *below, item_schema(schema)) : item);
    }
  } else {
    for (const auto& [name, field] : value.items()) {
      const std::string element = field_element(name);
      if (fields.has_member(element)) continue;
      const FieldSet* below = fields.below(element);
      out[name] = below != nullptr ? remove_at(field, *below, field_schema(schema, name)) : field;
    }
  }
  return out.empty() ? Json(nullptr) : out;
}

void find_undeclared(const Json& value, const SchemaRef& schema, const std::string& path,
                     std::vector<std::string>& found) {
  if (!schema || value.is_null()) return;
  if (value.is_array() && schema->type == "array") {
    std::set<std::string> seen;
    for (const Json& item : value) {
      std::string at = path;
      if (schema->list_type != ListType::atomic) {
        const std::string element = item_element(item, schema);
        at += path_text({element});
        if (!seen.insert(element).second)
          found.push_back(path + ": duplicate entries for key " + path_text({element}));
      }
      find_undeclared(item, schema->items, at, found);
    }
    return;
  }
  if (!value.is_object() || schema->type != "object") return;
  for (const auto& [name, field] : value.items()) {
    SchemaRef child = schema->field(name);
    if (!child && !schema->preserve_unknown && !schema->any_additional)
      found.push_back(path + "." + name + ": field not declared in schema");
    else
      find_undeclared(field, child, path + "." + name, found);
  }
}

}  // namespace

FieldSet fields_of(const Json& value, const SchemaRef& schema) {
  FieldSet set;
  FieldPath path;
  if (!value.empty()) collect_fields(value, schema, path, set);
  return set;
}

Comparison compare(const Json& before, const Json& after, const SchemaRef& schema) {
  Comparer comparer;
  FieldPath path;
  comparer.visit(&before, &after, schema, path);
  return std::move(comparer.result);
}

Json merged(const Json& base, const Json& over, const SchemaRef& schema) {
  return merge_values(&base, &over, schema);
}

Json without_fields(const Json& value, const FieldSet& fields, const SchemaRef& schema) {
  return remove_at(value, fields, schema);
}

FieldSet with_named_parents(const FieldSet& fields, const SchemaRef& schema) {
  FieldSet out = fields;
  for (const auto& [element, child] : fields.children()) {
    SchemaRef next;
    if (element.front() == 'f') {
      const std::string name = element.substr(2);
      next = field_schema(schema, name);
      if (declares(schema, name)) out.insert_member(element);
    } else if (element.front() == 'k') {
      next = item_schema(schema);
    }
    out.attach(element, with_named_parents(child, next));
  }
  return out;
}

std::vector<std::string> undeclared(const Json& value, const SchemaRef& schema) {
  std::vector<std::string> found;
  find_undeclared(value, schema, "", found);
  return found;
}

}  // namespace fairlead::model
