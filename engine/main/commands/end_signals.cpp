#include "engine/main/commands/end_signals.h"

#include <ctime>

namespace fairlead {

EndSignals::EndSignals() {
  ::signal(SIGPIPE, SIG_IGN);
  ::sigemptyset(&set_);
  for (const int number : {SIGTERM, SIGINT}) ::sigaddset(&set_, number);
  ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

bool EndSignals::within(Duration span) const {
  const timespec wait{span.ns / seconds(1).ns, span.ns % seconds(1).ns};
  return ::sigtimedwait(&set_, nullptr, &wait) > 0;
}

}  // namespace fairlead
