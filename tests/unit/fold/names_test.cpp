#include "engine/fold/multikueue/names.h"

#include <catch2/catch.hpp>

namespace fairlead::names_test {
namespace {

Configuration named_by(NamingProfile profile) {
  Configuration configuration;
  configuration.multikueue.profile = profile;
  return configuration;
}

const Configuration kByPlacement = named_by(NamingProfile::placement),
                    kByCluster = named_by(NamingProfile::cluster);

TEST_CASE("multikueue names: a worker's name leads back to its cluster") {
  CHECK(worker_name(kByPlacement, "gpu", "east") == "gpu-east");
  CHECK(cluster_of_worker(kByPlacement, "gpu", "gpu-east") == "east");
  CHECK(worker_name(kByCluster, "gpu", "east") == "east");
  CHECK(cluster_of_worker(kByCluster, "gpu", "east") == "east");
  for (const char* other : {"gpu-", "gpu", "cpu-east", "", "gpueast"}) {
    INFO(other);
    CHECK_FALSE(cluster_of_worker(kByPlacement, "gpu", other));
  }
}

TEST_CASE("multikueue names: a Secret's name leads back to its cluster") {
  CHECK(secret_name(kByPlacement, "east") == "kueue-admin-east-kubeconfig");
  CHECK(cluster_of_secret(kByPlacement, "kueue-admin-east-kubeconfig") == "east");
  CHECK(secret_name(kByCluster, "east") == "multikueue-east");
  CHECK(cluster_of_secret(kByCluster, "multikueue-east") == "east");
  CHECK_FALSE(cluster_of_secret(kByPlacement, "kueue-admin--kubeconfig"));  // no cluster in it
  CHECK_FALSE(cluster_of_secret(kByPlacement, "kueue-admin-kubeconfig"));   // head and tail overlap
  CHECK_FALSE(cluster_of_secret(kByPlacement, "multikueue-east"));
  CHECK_FALSE(cluster_of_secret(kByCluster, "multikueue-"));
}

TEST_CASE("multikueue names: an object's name is a DNS subdomain of up to 253 characters") {
  for (const char* good : {"a", "0", "a-b", "a.b", "a--b.0c", "x1.y-2"}) {
    INFO(good);
    CHECK(is_dns_subdomain(good));
  }
  for (const char* bad : {"", "-a", "a-", ".a", "a.", "a..b", "a.-b", "a-.b", "A", "a_b", "a b"}) {
    INFO(bad);
    CHECK_FALSE(is_dns_subdomain(bad));
  }
  CHECK(is_dns_subdomain(std::string(253, 'a')));
  CHECK_FALSE(is_dns_subdomain(std::string(254, 'a')));
}

TEST_CASE("multikueue names: marks name what made the object") {
  CHECK(config_mark("gpu") == OwnerMark{true, "placement/gpu"});
  CHECK(worker_mark(kByPlacement, "gpu", "east") == OwnerMark{true, "placement/gpu"});
  CHECK(worker_mark(kByCluster, "gpu", "east") == OwnerMark{true, "cluster/east"});
  CHECK(config_mark("gpu").ours());
  CHECK_FALSE(OwnerMark{true, ""}.ours());
  CHECK_FALSE(OwnerMark{false, "placement/gpu"}.ours());
}

}  // namespace
}  // namespace fairlead::names_test
