// What a person at a terminal sees while an answer takes long whose length is not known.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace fairlead {

/// After two seconds it shows on stderr what is done, and for how long; the line is erased when it
/// is destroyed. Nothing is shown where stderr is no terminal.
class WaitingLine {
 public:
  explicit WaitingLine(std::string doing);
  ~WaitingLine();
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

 private:
  void show();

  const std::string doing_;
  std::mutex mutex_;  // guards done_
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace fairlead
