// Every file of benches: one function each, called by main.cpp in the order of the table.
#pragma once

#include "tests/bench/bench.h"

namespace fairlead::bench {

void add_decode_benches(Suite& suite);
void add_append_benches(Suite& suite);
void add_ring_benches(Suite& suite);
void add_log_benches(Suite& suite);
void add_debounce_benches(Suite& suite);
void add_fold_benches(Suite& suite);
void add_live_benches(Suite& suite);
void add_hub_benches(Suite& suite);
void add_member_benches(Suite& suite);
void add_placement_benches(Suite& suite);
void add_pool_benches(Suite& suite);
void add_device_benches(Suite& suite);
void add_device_decision_benches(Suite& suite);
void add_dispatch_benches(Suite& suite);
void add_waiting_benches(Suite& suite);
void add_replay_benches(Suite& suite);
void add_page_benches(Suite& suite);
void add_large_page_benches(Suite& suite);
void add_usage_benches(Suite& suite);
void add_wait_record_benches(Suite& suite);
void add_webhook_benches(Suite& suite);
void add_served_webhook_benches(Suite& suite);

}  // namespace fairlead::bench
