#include "engine/fleet/model/shared_model.h"

namespace fairlead::model {

std::string kubeconfig_for(const std::string& name, const std::string& url) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: " + name + "\nclusters:\n- name: " + name +
         "\n  cluster: {server: \"" + url + "\"}\nusers:\n- name: " + name +
         "\n  user: {}\ncontexts:\n- name: " + name + "\n  context: {cluster: " + name +
         ", user: " + name + "}\n";
}

}  // namespace fairlead::model
