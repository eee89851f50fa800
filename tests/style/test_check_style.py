"""Each rule is shown one breach that it must find and one look-alike that it must leave alone."""

import unittest

import cpp_source
import layering
import rules

HEADER = "// An idea.\n#pragma once\n"


def messages(path, text):
    return [message for _, message in rules.check(path, text)]


class Layering(unittest.TestCase):
    def test_a_folder_may_include_itself_and_what_is_below_it(self):
        for path, name in [("engine/fold/a.cpp", "engine/fold/b.h"), ("engine/fold/a.cpp", "schema/event.h"),
                           ("schema/a.h", "engine/base/result.h"), ("engine/main/main.cpp", "replay/why.h"),
                           ("connectors/kube/model/a.cpp", "connectors/kube/b.h"), ("tests/unit/a.cpp", "replay/b.h")]:
            self.assertIsNone(layering.check_include(path, name), (path, name))

    def test_a_folder_may_not_include_what_is_above_or_beside_it(self):
        for path, name in [("engine/base/a.cpp", "schema/event.h"), ("engine/fold/a.cpp", "engine/plan/b.h"),
                           ("engine/fold/a.cpp", "engine/log/event_log.h"), ("engine/plan/a.h", "connectors/kube/b.h"),
                           ("engine/runtime/a.cpp", "connectors/kube/b.h"),
                           ("connectors/kube/a.cpp", "engine/fold/b.h"),
                           ("connectors/kube/a.cpp", "connectors/kube/model/b.h"), ("engine/base/a.h", "tests/x.h")]:
            self.assertIn("layering", layering.check_include(path, name) or "", (path, name))

    def test_a_folder_that_the_table_does_not_know_is_a_breach(self):
        self.assertIn("no row", layering.check_include("engine/new/a.cpp", "schema/event.h"))

    def test_a_library_stays_in_the_folder_that_owns_it(self):
        owned = [("engine/log/rocksdb_log.cpp", "rocksdb/db.h"), ("snapshots/store.cpp", "rocksdb/db.h"),
                 ("schema/codec.cpp", "capnp/message.h"), ("schema/codec.cpp", "event.capnp.h"),
                 ("connectors/kube/json_index.cpp", "simdjson.h"), ("engine/main/main.cpp", "CLI/CLI.hpp"),
                 ("engine/runtime/http_server.cpp", "boost/beast/http.hpp"),
                 ("engine/runtime/diagnostics.cpp", "spdlog/spdlog.h"),
                 ("engine/runtime/configuration.cpp", "yaml-cpp/yaml.h"), ("tests/unit/log/a.cpp", "rocksdb/db.h")]
        for path, name in owned:
            self.assertIsNone(layering.check_include(path, name), (path, name))
        stray = [("engine/fold/a.cpp", "rocksdb/db.h"), ("schema/event.h", "capnp/message.h"),
                 ("engine/log/a.cpp", "event.capnp.h"), ("connectors/kube/model/a.cpp", "simdjson.h"),
                 ("engine/main/main.cpp", "boost/beast/http.hpp"), ("engine/runtime/loop.cpp", "spdlog/spdlog.h"),
                 ("engine/runtime/loop.cpp", "yaml-cpp/yaml.h"), ("replay/a.cpp", "CLI/CLI.hpp"),
                 ("schema/event.cpp", "nlohmann/json.hpp"), ("engine/base/a.cpp", "catch2/catch.hpp")]
        for path, name in stray:
            self.assertIn("one library, one folder", layering.check_include(path, name) or "", (path, name))

    def test_a_library_that_nobody_owns_is_a_breach(self):
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
