// expand-facts: reads facts of the scenario language from standard input and prints the watch
// events that they are, for tests that are not in C++.
#include <iostream>
#include <iterator>

#include "tests/scenarios/language/language.h"

int main() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const auto events = fairlead::language::expand(text);
  if (!events) {
    std::cerr << events.error().message << "\n";
    return 2;
  }
  std::cout << *events;
  return 0;
}
