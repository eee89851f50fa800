"""Each rule is shown one breach that it must find and one look-alike that it must leave alone."""

import unittest

import classes
import cpp_source
import layering
import references
import rules

HEADER = "// An idea.\n#pragma once\n"


def messages(path, text):
    return [message for _, message in rules.check(path, text)]


class Layering(unittest.TestCase):
    def test_a_folder_may_include_itself_and_what_is_below_it(self):
        for path, name in [("engine/fold/a.cpp", "engine/fold/b.h"), ("engine/fold/a.cpp", "schema/event.h"),
                           ("schema/a.h", "engine/base/result.h"), ("engine/main/main.cpp", "replay/why.h"),
                           ("engine/fleet/model/a.cpp", "connectors/kube/b.h"), ("tests/unit/a.cpp", "replay/b.h"),
                           ("engine/core/a.h", "engine/plan/b.h"), ("engine/runtime/a.h", "engine/core/core.h")]:
            self.assertIsNone(layering.check_include(path, name), (path, name))

    def test_a_folder_may_not_include_what_is_above_or_beside_it(self):
        for path, name in [("engine/base/a.cpp", "schema/event.h"), ("engine/fold/a.cpp", "engine/plan/b.h"),
                           ("engine/fold/a.cpp", "engine/log/event_log.h"), ("engine/plan/a.h", "connectors/kube/b.h"),
                           ("engine/runtime/a.cpp", "connectors/kube/b.h"), ("engine/runtime/a.cpp", "engine/plan/b.h"),
                           ("engine/core/a.cpp", "engine/log/b.h"), ("engine/core/a.cpp", "engine/runtime/b.h"),
                           ("engine/plan/a.cpp", "engine/core/core.h"),
                           ("connectors/kube/a.cpp", "engine/fold/b.h"),
                           ("engine/main/client/a.cpp", "engine/main/service/b.h"),
                           ("engine/main/service/a.cpp", "engine/main/commands/b.h"),
                           ("connectors/kube/a.cpp", "engine/fleet/model/b.h"), ("engine/base/a.h", "tests/x.h")]:
            self.assertIn("layering", layering.check_include(path, name) or "", (path, name))

    def test_what_talks_to_an_api_server_knows_the_port_and_not_what_is_beside_it(self):
        port, sockets = "connectors/kube/transport/transport.h", "connectors/kube/transport/io_loop.h"
        for path, name in [("connectors/kube/watch/a.cpp", port), ("connectors/kube/api_server_connection.h", sockets),
                           ("connectors/kube/transport/a.cpp", sockets), ("engine/main/a.cpp", sockets)]:
            self.assertIsNone(layering.check_include(path, name), (path, name))
        for path in ("connectors/kube/watch/a.cpp", "connectors/kube/api_server.cpp", "engine/fleet/model/a.h"):
            self.assertIn("beside the port", layering.check_include(path, sockets) or "", path)

    def test_a_room_of_the_fold_may_include_itself_and_lower_ones(self):
        for path, name in [("capacity/a.cpp", "claims/terms.h"), ("capacity/a.cpp", "capacity/b.h"),
                           ("devices/a.cpp", "rooms.h"), ("pool/a.cpp", "writes/record.h"),
                           ("close.cpp", "writes/outcomes.h"), ("writes/outcomes.cpp", "pool/tenants.h"),
                           ("close.cpp", "state.h"), ("capacity/a_state.h", "capacity/liveness.h")]:
            path, name = f"engine/fold/{path}", f"engine/fold/{name}"
            self.assertIsNone(layering.check_include(path, name), (path, name))

    def test_a_room_of_the_fold_may_not_include_a_higher_one(self):
        for path, name in [("capacity/a.cpp", "claims/claims.h"), ("devices/a.cpp", "capacity/cluster.h"),
                           ("members/a.cpp", "queues/queues.h"), ("dispatch/a.cpp", "multikueue/multikueue_close.h"),
                           ("capacity/a_state.h", "capacity/cluster.h"), ("pool/a.cpp", "close.h"),
                           ("pool/a.cpp", "writes/outcomes.h"), ("pool/a.cpp", "state.h"),
                           ("deadlines.h", "evolve.h")]:
            path, name = f"engine/fold/{path}", f"engine/fold/{name}"
            self.assertIn("floors", layering.check_include(path, name) or "", (path, name))
        self.assertIn("no room", layering.check_include("engine/fold/new/a.cpp", "engine/fold/deadlines.h"))

    def test_only_the_close_changes_any_part_of_state(self):
        line = "void mark(State& state);\n"
        for path in ("capacity/cluster.cpp", "held.cpp", "pool/close.cpp"):
            self.assertEqual(rules.check(f"engine/fold/{path}", line), [(1, layering.STATE_IS_PARTS)], path)
        for path in ("engine/fold/evolve.cpp", "engine/fold/close.cpp", "engine/fold/objects.cpp", "replay/verify.cpp"):
            self.assertEqual(rules.check(path, line), [], path)
        for allowed in ("bool is(const State& state);", "void mark(WriteState& write);", "// takes a State& state"):
            self.assertEqual(rules.check("engine/fold/capacity/cluster.cpp", allowed + "\n"), [], allowed)

    def test_few_files_include_all_of_state(self):
        includers = layering.IncludersOfState()
        text = '#pragma once\n#include "engine/fold/state.h"\n'
        for number in range(layering.STATE_INCLUDERS_MAX):
            self.assertEqual(list(includers.check(f"engine/plan/{number}.h", text)), [])
        self.assertEqual(list(includers.check("engine/plan/part.h", text.replace("state.h", "state_view.h"))), [])
        self.assertEqual(list(includers.check("docs/a.md", text)), [])
        self.assertEqual([line for line, _ in includers.check("tests/unit/last.cpp", text)], [2])

    def test_a_folder_that_the_table_does_not_know_is_a_breach(self):
        self.assertIn("no row", layering.check_include("engine/new/a.cpp", "schema/event.h"))

    def test_a_library_stays_in_the_folder_that_owns_it(self):
        owned = [("engine/log/rocksdb/rocksdb_log.cpp", "rocksdb/db.h"), ("snapshots/store.cpp", "rocksdb/db.h"),
                 ("schema/codec.cpp", "capnp/message.h"), ("schema/codec.cpp", "event.capnp.h"),
                 ("connectors/kube/document/json_index.cpp", "simdjson.h"), ("engine/main/main.cpp", "CLI/CLI.hpp"),
                 ("engine/http/connection.cpp", "boost/beast/http/parser.hpp"),
                 ("engine/runtime/diagnostics.cpp", "spdlog/spdlog.h"),
                 ("engine/base/yaml_tree.cpp", "yaml-cpp/parser.h"), ("tests/unit/log/a.cpp", "rocksdb/db.h")]
        for path, name in owned:
            self.assertIsNone(layering.check_include(path, name), (path, name))
        stray = [("engine/fold/a.cpp", "rocksdb/db.h"), ("schema/event.h", "capnp/message.h"),
                 ("engine/log/a.cpp", "event.capnp.h"), ("engine/fleet/model/a.cpp", "simdjson.h"),
                 ("engine/runtime/http_session.cpp", "boost/beast/http.hpp"),
                 ("engine/runtime/loop.cpp", "spdlog/spdlog.h"),
                 ("engine/runtime/loop.cpp", "yaml-cpp/yaml.h"), ("replay/a.cpp", "CLI/CLI.hpp"),
                 ("schema/event.cpp", "nlohmann/json.hpp"), ("engine/base/a.cpp", "catch2/catch.hpp")]
        for path, name in stray:
            self.assertIn("one library, one folder", layering.check_include(path, name) or "", (path, name))

    def test_a_library_without_an_owner_is_a_breach(self):
        self.assertIn("without an owner", layering.check_include("engine/log/a.cpp", "absl/strings/cord.h"))

    def test_an_include_is_written_from_the_root(self):
        self.assertIn("from the root", layering.check_include("engine/log/a.cpp", "event_log.h"))
        self.assertIsNone(layering.check_include("engine/log/a.cpp", "vector"))
        self.assertIsNone(layering.check_include("engine/log/a.cpp", "sys/file.h"))


class Core(unittest.TestCase):
    def test_the_core_has_no_clock_random_number_thread_float_file_or_log(self):
        for code in ["#include <chrono>\n", "auto t = std::chrono::system_clock::now();\n", "Clock& clock;\n",
                     "#include <random>\n", "int x = rand();\n", 'auto* p = std::getenv("X");\n', "double x;\n",
                     "float f(float);\n", "#include <thread>\n", "std::mutex m;\n", "#include <fstream>\n",
                     "std::locale l;\n", "spdlog::info(1);\n"]:
            for folder in layering.CORE:
                found = messages(f"{folder}/a.cpp", code)
                self.assertTrue(any("the core is pure" in m for m in found), (folder, code, found))

    def test_the_shell_may_have_them(self):
        self.assertEqual(messages("engine/runtime/a.cpp", "#include <chrono>\ndouble x;\n"), [])

    def test_words_in_comments_and_strings_are_not_code(self):
        self.assertEqual(messages("engine/fold/a.cpp", '// a double rand()\nauto s = "float clock";\n'), [])
        self.assertEqual(messages("engine/fold/a.cpp", "/* std::thread */ int doubled = 1'000;\n"), [])
        self.assertEqual(messages("engine/fold/a.cpp", 'auto s = R"(double "x")";\n'), [])

    def test_a_walk_over_a_hash_table_is_a_breach_and_a_look_up_is_none(self):
        table = "std::unordered_map<std::string, int> seen_;\n"
        for walk in ["for (auto& x : seen_) f(x);\n", "auto i = seen_.begin();\n",
                     "for (auto& x : state.seen_) f(x);\n"]:
            self.assertTrue(any("hash table" in m for m in messages("engine/fold/a.cpp", table + walk)), walk)
        self.assertEqual(messages("engine/fold/a.cpp", table + "auto i = seen_.find(k);\n"), [])
        self.assertEqual(messages("engine/fold/a.cpp", "std::map<int, int> m;\nfor (auto& x : m) f(x);\n"), [])


class Sizes(unittest.TestCase):
    def function(self, lines):
        return "void f(int x) {\n" + "  g(x);\n" * (lines - 2) + "}\n"

    def test_a_function_fits_a_screen(self):
        self.assertEqual(messages("engine/log/a.cpp", self.function(70)), [])
        self.assertIn("at most 70 lines, this one has 71", messages("engine/log/a.cpp", self.function(71))[0])

    def test_methods_constructors_lambdas_and_tests_are_measured_namespaces_and_tables_are_not(self):
        body = "  g();\n" * 80 + "}\n"
        for head in ["int C::f() const {\n", "C::C(int a) : a_(a), b_{1} {\n",
                     "C::C(int a)\n    : a_{a}, b_(f({1})) {\n",
                     "void f(int a, std::vector<int> b = {}) {\n", "TEST_CASE(\"a thing\") {\n",
                     "template <class T>\nstd::vector<T> f(T t) noexcept {\n", "auto f() -> std::map<int, int> {\n"]:
            self.assertEqual(len(messages("engine/log/a.cpp", head + body)), 1, head)
        self.assertEqual(len(messages("engine/log/a.cpp", "class C {\n public:\n  void f() {\n" + body + "};\n")), 1)
        for head in ["namespace fairlead {\n", "namespace {\n", "constexpr int table[] = {\n", "struct C : D<int> {\n",
                     "enum class E : int {\n"]:
            self.assertEqual(messages("engine/log/a.cpp", head + "  x,\n" * 80 + "};\n"), [], head)

    def test_a_function_is_found_between_others(self):
        text = "namespace n {\n" + self.function(5) + "\nstruct S { int x = 0; };\n" + self.function(72) + "}\n"
        found = list(cpp_source.Source("a.cpp", text).functions())
        self.assertEqual([last - first + 1 for first, last, _ in found], [5, 72])

    def test_a_file_is_a_sitting(self):
        self.assertEqual(messages("engine/log/a.cpp", "int x;\n" * 500), [])
        self.assertEqual(len(messages("engine/log/a.cpp", "int x;\n" * 501)), 1)
        self.assertEqual(messages("README.md", "text\n" * 900), [])

    def test_a_line_has_100_columns_but_for_literals_that_cannot_be_broken(self):
        self.assertEqual(messages("engine/log/a.cpp", "x" * 100 + "\n"), [])
        self.assertEqual(len(messages("engine/log/a.cpp", "x" * 101 + "\n")), 1)
        self.assertEqual(len(messages("engine/log/a.cpp", 'auto s = "' + "x" * 100 + '";\n')), 1)
        self.assertEqual(messages("engine/log/a.cpp", 'auto s = R"(' + "x" * 100 + ')";\n'), [])
        self.assertEqual(messages("tests/unit/a.cpp", 'auto s = "' + "x" * 100 + '";\n'), [])

    def test_a_line_of_a_scenario_has_100_columns(self):
        title, fact = "# " + "x" * 98 + "\n", "node c1/n1 cpu=" + "9" * 86 + "\n----\n"
        self.assertEqual(messages("tests/scenarios/capacity/a.txt", title), [])
        self.assertIn("at most 100 columns, this one has 101", messages("tests/scenarios/capacity/a.txt", fact)[0])
        self.assertEqual(len(messages("tests/scenarios/a.txt", title + fact + title + fact)), 2)
        # Other texts with this ending, and other files of the folder, have rules of their own or none.
        for path in ["tests/unit/kube/reflector/a.txt", "tests/scenarios/CMakeLists.txt", "tests/scenarios/README.md"]:
            self.assertEqual(messages(path, fact), [], path)

    def test_python_functions_are_measured(self):
        self.assertEqual(len(messages("scripts/a.py", "def f():\n" + "    g()\n" * 70)), 1)
        self.assertEqual(messages("scripts/a.py", "def f():\n" + "    g()\n" * 69), [])


class Headers(unittest.TestCase):
    def test_a_header_has_an_idea_and_a_guard(self):
        self.assertEqual(messages("engine/log/a.h", HEADER + "int f();\n"), [])
        self.assertIn("a header has #pragma once", messages("engine/log/a.h", "// An idea.\nint f();\n"))
        self.assertIn("a header opens with its idea in a few sentences", messages("engine/log/a.h", "#pragma once\n"))

    def test_the_own_header_comes_first(self):
        good = '#include "engine/log/a.h"\n\n#include <vector>\n'
        self.assertEqual(messages("engine/log/a.cpp", good), [])
        bad = '#include <vector>\n#include "engine/log/a.h"\n'
        self.assertIn("comes first", messages("engine/log/a.cpp", bad)[0])


class Flags(unittest.TestCase):
    """Of C++ that a reader of the call, or the compiler, could not follow."""

    def breaches(self, rule, path, codes):
        for code in codes:
            text = HEADER + code if path.endswith(".h") else code
            self.assertTrue(any(rule in m for m in messages(path, text)), code)

    def look_alikes(self, path, codes):
        for code in codes:
            self.assertEqual(messages(path, HEADER + code if path.endswith(".h") else code), [], code)

    def test_a_lambda_names_what_it_captures(self):
        self.breaches("no [=]", "engine/log/a.cpp", ["auto f = [=] { return x; };\n", "f([=, &y](int z) {});\n",
                                                     "auto f = [ = ]() {};\n"])
        self.look_alikes("engine/log/a.cpp", ["auto f = [x, &y, z = 1] { return x; };\n", "auto f = [&] {};\n",
                                              "a[i] = b[j] == 2;\n", "// not [=]\nauto s = \"[=]\";\n"])

    def test_a_header_has_no_boolean_parameter(self):
        self.breaches("no boolean parameter", "engine/log/a.h",
                      ["void f(bool x);\n", "void f(int a, const bool b = true);\n", "void f(bool);\n",
                       "struct S {\n  S(std::string a,\n    bool b);\n};\n", "std::function<void(bool)> f;\n",
                       "std::function<int(int&, bool& ended)> f;\n", "void f(std::map<int, int> a, bool b, int c);\n"])
        self.look_alikes("engine/log/a.h",
                         ["bool f(int a);\n", "std::map<int, bool> f();\n", "std::tuple<int, bool, int> f(int a);\n",
                          "std::function<bool(int)> f;\n", "void f(std::pair<bool, int> a);\n", "bool b = f(a, c);\n",
                          "void check(bool holds, std::string_view what);\n", "int f(std::size_t n = sizeof(bool));\n",
                          "struct S {\n  bool a = false, b = true;\n};\n", "void f(boolean x);\n"])
        self.look_alikes("engine/log/a.cpp", ["void f(bool x) {}\n"])

    def test_a_breach_of_a_parameter_is_said_at_its_line(self):
        text = HEADER + "void f(int a,\n       bool b);\n"
        self.assertEqual([line for line, _ in rules.check("engine/log/a.h", text)], [4])

    def test_a_switch_over_our_enum_names_its_cases(self):
        ours = "switch (k) {\n  case Kind::node: return 1;\n  default: return 2;\n}\n"
        self.breaches("no default over an enum", "engine/log/a.cpp",
                      [ours, ours.replace("Kind::node", "WatchStep::Kind::need_more"),
                       "switch (k) {\n  default: break;\n  case Kind::node: { f(); }\n}\n",
                       "switch (i) {\n  case 1: {\n" + ours + "  }\n}\n"])
        self.look_alikes("engine/log/a.cpp",
                         [ours.replace("  default: return 2;\n", ""), ours.replace("Kind::node", "1"),
                          ours.replace("Kind::node", "'x'"), ours.replace("Kind::node", "rocksdb::Status::kOk"),
                          ours.replace("Kind::node", "YAML::NodeType::Map"),
                          ours.replace("Kind::node", "http::verb::get"),
                          "switch (i) {\n  case 1: {\n    switch (k) {\n      case Kind::node: break;\n    }\n  }\n"
                          "  default: break;\n}\n",
                          "struct Kind {\n  Kind() = default;\n};\n"])

    def test_result_cannot_be_dropped(self):
        self.breaches("[[nodiscard]]", rules.RESULT, ["template <class T>\nclass Result : public R<T> {};\n",
                                                      "// class [[nodiscard]] Result\n"])
        self.look_alikes(rules.RESULT, ["template <class T>\nclass [[nodiscard]] Result : public R<T> {};\n"])
        self.look_alikes("engine/base/other.h", ["template <class T>\nclass Other {};\n"])


class References(unittest.TestCase):
    TREE = references.References(["engine/log/pack.h", "schema/crd/a.yaml", "tests/scenarios/07-two.txt",
                                  "docs/audit.md", "tests/style/layering.py", "tests/golden/v1/a.bin"],
                                 lambda name: "class C {\n  int inside() { return 1; }\n};\n"
                                              "void C::f(int x) {\n  g(x);\n}\n")

    def found(self, path, text):
        return [message for _, message in self.TREE.check(path, text)]

    def test_what_a_comment_or_a_page_names_is_there(self):
        for path, text in [("engine/a.h", "// See engine/log/gone.h.\n"), ("engine/a.h", "/* gone.h */\n"),
                           ("engine/a.cpp", "int x;  // as in log/gone.h\n"), ("README.md", "`tests/gone/`\n"),
                           ("README.md", "schema/crd/*.json\n"), ("engine/a.h", "// scenarios/08\n"),
                           ("scripts/a.py", "x = 1  # layers.py\n"), ("scripts/a.py", '"""As docs/gone.md."""\n'),
                           ("CMakeLists.txt", "# As tests/gone does.\n")]:
            self.assertEqual(len(self.found(path, text)), 1, (path, text))

    def test_a_breach_is_said_at_its_line(self):
        self.assertEqual(list(self.TREE.check("engine/a.h", "// An idea.\nint x;  // gone.h\n")),
                         [(2, "gone.h is not in the tree")])

    def test_a_step_of_a_walk_names_a_function_that_is_there(self):
        for step, why in [("`engine/log/pack.h: g`", "has no function g"),
                          ("`engine/log/pack.h: f`", "has no function f"),
                          ("`engine/log/gone.h: f`", "is not in the tree"), ("`engine/log/pack.h: D::f`", "D::f")]:
            self.assertTrue(any(why in m for m in self.found("docs/a.md", step + "\n")), step)
        self.assertEqual(self.found("docs/a.md", "1. `engine/log/pack.h: C::f`, `engine/log/pack.h: inside`: x\n"), [])
        self.assertEqual(self.found("docs/a.md", "`engine/log/pack.h`: f\n"), [])

    def test_the_one_page_has_a_walk_and_is_one_page(self):
        step = "`engine/log/pack.h: C::f`\n"
        self.assertEqual(self.found("ARCHITECTURE.md", step + "x\n" * 119), [])
        self.assertEqual(self.found("docs/audit.md", "x\n" * 121), [])
        self.assertEqual(len(self.found("ARCHITECTURE.md", step + "x\n" * 120)), 1)
        self.assertEqual(self.found("ARCHITECTURE.md", "x\n"), ["the walk from socket to patch is gone"])

    def test_a_link_leads_somewhere(self):
        tree = references.References(["README.md", "docs/a.md", "docs/b/c.md"], lambda name: "# The first one's\n")
        for path, link in [("README.md", "docs/a.md"), ("docs/a.md", "b/c.md#the-first-ones"),
                           ("docs/b/c.md", "../a.md"), ("docs/a.md", "b"), ("docs/a.md", "#here"),
                           ("docs/a.md", "https://example.org/docs/x")]:
            self.assertEqual(list(tree.links(path, f"# Here\n\n[x]({link})\n")), [], (path, link))
        for path, link in [("README.md", "a.md"), ("docs/a.md", "b/c.md#the-second"), ("docs/b/c.md", "a.md"),
                           ("docs/a.md", "#there")]:
            self.assertEqual(list(tree.links(path, f"# Here\n\n[x]({link})\n")),
                             [(3, f"the link {link} leads nowhere")], (path, link))

    RECORD = "# 0001 A\n\nDate: 2026-11-21\n\n## Context\n\n## Decision\n\n## Rejected\n\n## Rests on\n"

    def test_a_decision_record_has_its_form(self):
        self.assertEqual(self.found("docs/decisions/0001-a.md", self.RECORD), [])
        self.assertEqual(self.found("docs/a.md", "# A\n\n## Context\n"), [])
        for path, text in [("docs/decisions/a.md", self.RECORD),
                           ("docs/decisions/0001-a.md", self.RECORD.replace("2026-11-21", "soon")),
                           ("docs/decisions/0001-a.md", self.RECORD.replace("## Rests on\n", "")),
                           ("docs/decisions/0001-a.md", self.RECORD.replace("# 0001 A", "# A"))]:
            self.assertEqual(len(self.found(path, text)), 1, (path, text))

    def test_a_decision_record_is_in_the_index(self):
        tree = references.References(["docs/decisions/0001-a.md", "docs/decisions/README.md"])
        self.assertEqual(list(tree.check("docs/decisions/README.md", "| [A](0001-a.md) |\n")), [])
        self.assertEqual(list(tree.check("docs/decisions/README.md", "0001-a.md\n")),
                         [(1, "docs/decisions/0001-a.md is not in the index")])

    def test_what_is_there_or_is_none_of_ours_is_no_breach(self):
        for path, text in [("engine/a.h", "// engine/log/pack.h, log/pack.h, pack.h; engine/log/, engine/log.\n"),
                           ("engine/a.h", "// kj/string.h and <kj/string.h>\n"), ("engine/a.h", 'auto s = "gone.h";\n'),
                           ("engine/a.h", "// scenarios/07 and tests/scenarios/07-two.txt\n"),
                           ("README.md", "schema/crd/*.yaml, tests/golden/v<version>/, build/docs/x, ~/docs/x\n"),
                           ("README.md", "https://example.org/docs/gone.md, snapshots/SEQ.snapshot\n"),
                           ("scripts/a.py", 'x = "tests/gone"\n'), ("a.cmake", "# -DOUTPUT=x.cpp\nset(docs/gone)\n"),
                           ("README.md", "`tests/100k nodes`, docs/decisions/NNNN-name.md, NNNN-name.md\n"),
                           ("schema/a.yaml", "# docs/gone\n")]:
            self.assertEqual(self.found(path, text), [], (path, text))


class SizesOfClasses(unittest.TestCase):
    @staticmethod
    def sizes(text):
        source = cpp_source.Source("engine/log/a.h", text)
        return [(name, methods, members) for _, name, methods, members in classes.sizes(source)]

    def test_private_methods_and_members_are_counted(self):
        body = """template <class T>
class Log final : public Base<T> {
 public:
  explicit Log(int a) : a_(a) {}
  int open() const { return a_; }

 private:
  enum class Mode { read, write };
  struct Pack { int a, b; void close(); };
  using F = std::function<void(int)>;
  friend bool operator==(const Log&, const Log&) = default;
  Log(const Log&) = delete;
  static int first();
  int second(const std::map<int, int>& of = {}) { return f([&] { return Pack{1}; }); }
  bool operator<(const Log& other) const;
  static constexpr int kMax = 3;
  int a_ = f(1);
  std::function<void(int, int)> b_{[](int, int) {}};
  std::array<int, 3> c_{}, d_{1};
};
"""
        self.assertEqual(self.sizes(body), [("Pack", 0, 2), ("Log", 3, 4)])

    def test_what_is_no_class_has_no_size(self):
        text = "enum class Mode { read };\nstruct Gone;\nint f() { struct A* a; return {1}; }\n"
        self.assertEqual(self.sizes(text), [])

    def test_a_class_that_is_too_large_says_why(self):
        methods = "".join(f"  void f{i}() {{ a(); }}\n" for i in range(16))
        members = "".join(f"  int m{i}_ = 0;\n" for i in range(21))
        for head, body in [("class A", methods), ("struct A", members)]:
            text = f"{head} {{\n{body}}};\n"
            found = [message for message in messages("engine/log/a.cpp", text) if "make several of it" in message]
            self.assertEqual(len(found), 1, head)
            self.assertIn("Large: ...", found[0])
            self.assertEqual(messages("engine/log/a.cpp", "// An A. Large: for a reason.\n" + text), [])
            self.assertEqual(messages("tests/unit/a.cpp", text), [])
            self.assertEqual(len(messages("engine/log/a.cpp", "// Large: of another.\n\n" + text)), 1)

    def test_a_class_at_the_bounds_is_accepted(self):
        methods = "".join(f"  void f{i}();\n" for i in range(15))
        members = "".join(f"  int m{i}_ = 0;\n" for i in range(20))
        public = "".join(f"  void p{i}();\n" for i in range(40))
        text = f"class A {{\n public:\n{public} private:\n{methods}{members}}};\n"
        self.assertEqual(messages("engine/log/a.cpp", text), [])


class Words(unittest.TestCase):
    def test_names_that_say_nothing(self):
        for path in ["engine/utils/a.cpp", "engine/log/log_helper.cpp", "scripts/common.py"]:
            self.assertTrue(any("says nothing" in m for m in messages(path, "\n")), path)
        self.assertTrue(messages("engine/log/a.cpp", "class QueueManager {};\n"))
        self.assertTrue(messages("engine/log/a.cpp", "namespace utils {}\n"))
        self.assertEqual(messages("engine/log/a.cpp", "struct FieldManager {};\nint field_manager;\n"), [])

    def test_unfinished_work_is_found_in_any_text(self):
        for path in ["README.md", "engine/log/a.cpp", "scripts/test"]:
            self.assertIn("unfinished work is an issue, not a comment", messages(path, "# TO" "DO: later\n"))

    def test_places_of_one_machine(self):
        for text in ["cd /ro" "ot/x\n", "see /wo" "rk/main\n", "/home/me" "/x\n", "https://pypi." "org/simple\n"]:
            self.assertIn("a path or host of one particular machine", messages("README.md", text), text)
        self.assertEqual(messages("README.md", "~/.cache, /usr/bin, $HOME/x, build/work/x\n"), [])

    def test_white_space(self):
        self.assertIn("white space at the end of a line", messages("scripts/a.py", "x = 1 \n"))
        self.assertIn("no newline at the end of the file", messages("scripts/a.py", "x = 1"))

    def test_a_type_has_one_header(self):
        types = rules.TypesOfHeaders()
        ours = "namespace fairlead {\nstruct Node {\n};\nclass Other;\n}\n"
        self.assertEqual(list(types.check("engine/fold/a.h", ours)), [])
        self.assertEqual(list(types.check("engine/fold/a.h", ours)), [])
        self.assertEqual(list(types.check("engine/fleet/b.h", ours)),
                         [(2, "fairlead::Node is also a type of engine/fold/a.h")])
        self.assertEqual(list(types.check("tests/bench/c.h", ours.replace("fairlead", "fairlead::bench"))), [])
        self.assertEqual(list(types.check("engine/fleet/d.cpp", ours)), [])

    def test_a_breach_is_said_at_its_line(self):
        self.assertEqual(rules.check("engine/fold/a.cpp", "int a;\n\ndouble b;\n"),
                         [(3, "the core is pure: no floating point: sums are integers")])


if __name__ == "__main__":
    unittest.main()
