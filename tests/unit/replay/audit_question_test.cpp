#include "engine/main/client/audit_question.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace fairlead {
namespace {

// A question that is told everything that its subject takes.
AuditQuestion told_everything(const AuditSubject& subject) {
  AuditQuestion question;
  question.subject = subject.name;
  for (const AuditArgument& argument : subject.arguments)
    question.*argument.parameter.value = "a/b " + std::string(argument.parameter.name);
  return question;
}

TEST_CASE("A question is the same as a URL: nothing that it was told is lost") {
  for (const AuditSubject& subject : audit_subjects()) {
    CAPTURE(subject.name);
    const AuditQuestion question = told_everything(subject);
    auto read = from_target(to_target(question));
    REQUIRE(read.has_value());
    CHECK(read->subject == subject.name);
    for (const AuditArgument& argument : subject.arguments)
      CHECK((*read).*argument.parameter.value == "a/b " + std::string(argument.parameter.name));
  }
}

TEST_CASE("The words of a question are its command: words in their order, then options by name") {
  for (const AuditSubject& subject : audit_subjects()) {
    CAPTURE(subject.name);
    std::vector<std::string> expected{"fairlead", "audit", std::string(subject.name)};
    for (const AuditArgument& argument : subject.arguments) {
      const std::string name(argument.parameter.name);
      if (argument.form == AuditForm::option) expected.push_back("--" + name);
      expected.push_back("a/b " + name);
    }
    CHECK(command_words(told_everything(subject)) == expected);
    const auto is_option = [](const AuditArgument& one) { return one.form == AuditForm::option; };
    CHECK(std::is_partitioned(subject.arguments.rbegin(), subject.arguments.rend(), is_option));
  }
}

TEST_CASE("An unknown subject and an unknown parameter are named, with those that are known") {
  AuditQuestion question;
  question.subject = "whence";
  CHECK(missing_subject(question) ==
        "expected quota, history, diff, why, why-not, admissions, waiting or blocked-by, got "
        "\"whence\"");
  const auto unknown = from_target("/audit/why?qeue=a");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().message ==
        "unknown parameter \"qeue\"; known: queue, flavor, resource, as-of, from, to, object, "
        "namespace, pod, workload");
}

}  // namespace
}  // namespace fairlead
