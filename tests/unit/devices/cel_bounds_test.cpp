#include <catch2/catch.hpp>

#include "engine/devices/cel.h"
