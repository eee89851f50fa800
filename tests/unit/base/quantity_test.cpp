#include "engine/base/quantity.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>

namespace fairlead {
namespace {

struct Case {
  std::string_view written;
  std::string_view canonical;
};

/// What `kubectl create quota x --hard=a=WRITTEN --dry-run=client -o json` (v1.36.3) prints.
constexpr std::array<Case, 138> kCases{{
    {"+3Ei", "3Ei"},
    {"+3Pi", "3Pi"},
    {"-0.0000000001Gi", "-107374183n"},
    {"-0.0000000001k", "-100n"},
    {"-0.5Ei", "-512Pi"},
    {"-0.5G", "-500M"},
    {"-0.5Ki", "-512"},
    {"-1.5E", "-1500P"},
    {"-1.5M", "-1500k"},
    {"-1024G", "-1024G"},
    {"-1024Ki", "-1Mi"},
    {"-1024M", "-1024M"},
    {"-1024Mi", "-1Gi"},
    {"-1024Pi", "-1Ei"},
    {"-1024u", "-1024u"},
    {"-1Ei", "-1Ei"},
    {"-1G", "-1G"},
    {"-1Pi", "-1Pi"},
    {"-1T", "-1T"},
    {"-1n", "-1n"},
    {".5G", "500M"},
    {"0.0", "0"},
    {"0.0000000001", "1n"},
    {"0.0000000001Ei", "115292150460684698n"},
    {"0.0000000001Pi", "112589990684263n"},
    {"0.0000000001T", "100"},
    {"0.0001Ei", "115292150460684697600u"},
    {"0.0001u", "1n"},
    {"0.000976562501P", "976562501k"},
    {"0.000976562501k", "976562501n"},
    {"0.000976562501m", "977n"},
    {"0.000976562501u", "1n"},
    {"0.001G", "1M"},
    {"0.001k", "1"},
    {"0.0Gi", "0"},
    {"0.0Pi", "0"},
    {"0.1", "100m"},
    {"0.1P", "100T"},
    {"0.1Ti", "109951162777600m"},
    {"0.1k", "100"},
    {"0.1m", "100u"},
    {"0.1u", "100n"},
    {"0.5E", "500P"},
    {"0.5Ki", "512"},
    {"0.5Mi", "512Ki"},
    {"0.5T", "500G"},
    {"00G", "0"},
    {"00Gi", "0"},
    {"00u", "0"},
    {"0E", "0"},
    {"0Ei", "0"},
    {"0M", "0"},
    {"0Mi", "0"},
    {"0m", "0"},
    {"0n", "0"},
    {"1.0000000001", "1000000001n"},
    {"1.0000000001Ti", "1099511627885951162778n"},
    {"1.0000000001k", "1000000000100n"},
    {"1.000000001Ki", "1024000001024n"},
    {"1.000000001u", "1001n"},
    {"1.5E", "1500P"},
    {"1.5Ki", "1536"},
    {"1.5P", "1500T"},
    {"1000000000000Pi", "9223372036854775807"},
    {"1000000M", "1T"},
    {"1000000T", "1E"},
    {"1000000m", "1k"},
    {"1000Ei", "9223372036854775807"},
    {"1000Ti", "1000Ti"},
    {"1000u", "1m"},
    {"100Pi", "100Pi"},
    {"100u", "100u"},
    {"1023Pi", "1023Pi"},
    {"1023T", "1023T"},
    {"1023n", "1023n"},
    {"1024.5T", "1024500G"},
    {"1024k", "1024k"},
    {"1024n", "1024n"},
    {"1025Ei", "9223372036854775807"},
    {"1025G", "1025G"},
    {"1025Pi", "1025Pi"},
    {"1025Ti", "1025Ti"},
    {"1048576Mi", "1Ti"},
    {"1048576P", "1048576P"},
    {"10E", "10E"},
    {"10M", "10M"},
    {"10Pi", "10Pi"},
    {"123456789", "123456789"},
    {"123456789E", "123456789E"},
    {"123456789Mi", "123456789Mi"},
    {"123456789u", "123456789u"},
    {"1234567G", "1234567G"},
    {"1234567Gi", "1234567Gi"},
    {"1234567T", "1234567T"},
    {"12G", "12G"},
    {"12Ki", "12Ki"},
    {"12M", "12M"},
    {"12Pi", "12Pi"},
    {"1536E", "1536E"},
    {"1536M", "1536M"},
    {"1536Pi", "1536Pi"},
    {"1536k", "1536k"},
    {"1m", "1m"},
    {"1n", "1n"},
    {"2.25E", "2250P"},
    {"2.25M", "2250k"},
    {"2.25Mi", "2304Ki"},
    {"2.25Pi", "2304Ti"},
    {"2048Gi", "2Ti"},
    {"2048Ki", "2Mi"},
    {"2048P", "2048P"},
    {"5M", "5M"},
    {"5Pi", "5Pi"},
    {"5u", "5u"},
    {"9", "9"},
    {"9223372036854775807G", "9223372036854775807G"},
    {"9223372036854775807Gi", "9223372036854775807"},
    {"9223372036854775807Pi", "9223372036854775807"},
    {"9223372036854775807n", "9223372036854775807n"},
    {"9223372036854775808G", "9223372036854775808G"},
    {"9223372036854775808Mi", "9223372036854775807"},
    {"9223372036854775808Ti", "9223372036854775807"},
    {"9223372036854775808n", "9223372036854775808n"},
    {"9999999999M", "9999999999M"},
    {"9999999999T", "9999999999T"},
    {"999Gi", "999Gi"},
    {"999M", "999M"},
    {"9E", "9E"},
    {"9Ki", "9Ki"},
    {"9m", "9m"},
    {"1.5Gi", "1536Mi"},
    {"1000m", "1"},
    {".5", "500m"},
    {"-1.5", "-1500m"},
    {"16Ei", "9223372036854775807"},
    {"-0", "0"},
    {"12345678901234567890.", "12345678901234567890"},
    {"1E", "1E"},
}};

std::string text_of(std::string_view written) {
  const auto quantity = Quantity::parse(written);
  return quantity ? quantity->text() : "malformed";
}

TEST_CASE("Canonical text is what kubectl prints") {
  for (const Case& row : kCases) {
    CAPTURE(row.written);
    CHECK(text_of(row.written) == row.canonical);
  }
}

TEST_CASE("Canonical text is a fixed point and keeps the value") {
  for (const Case& row : kCases) {
    CAPTURE(row.written);
    const auto quantity = Quantity::parse(row.written);
    const auto again = Quantity::parse(row.canonical);
    REQUIRE(quantity);
    REQUIRE(again);
    CHECK(*quantity == *again);
    CHECK(again->text() == row.canonical);
  }
}

TEST_CASE("What kubectl keeps as written is canonical here") {
  CHECK(text_of("5.") == "5");
  CHECK(text_of("+3Gi") == "3Gi");
  CHECK(text_of("007k") == "7k");
  CHECK(text_of("12.345G") == "12345M");
  CHECK(text_of("1e3") == "1k");
  CHECK(text_of("1E3") == "1k");
  CHECK(text_of("1e+3") == "1k");
  CHECK(text_of("1E-3") == "1m");
  CHECK(text_of("1e-10") == "1n");
  CHECK(text_of("-1e-10") == "-1n");
}

TEST_CASE("Whole numbers, which are read on a shorter way, mean what they mean with a sign") {
  for (const std::string digits :
       {"0", "00", "1", "7", "999", "1023", "1024", "000000000000000001", "126913836", "9223372036",
        "999999999999999999", "9223372036854775807", "18446744073709551616"})
    for (const std::string suffix :
         {"",   "n",  "u",  "m",  "k",  "M", "G", "T", "P",  "E", "Ki", "Mi",
          "Gi", "Ti", "Pi", "Ei", "e3", "E", "K", "i", "mi", "1", "x"}) {
      CAPTURE(digits + suffix);
      const auto plain = Quantity::parse(digits + suffix);
      const auto with_sign = Quantity::parse("+" + digits + suffix);
      REQUIRE(plain.has_value() == with_sign.has_value());
      if (!plain) continue;
      CHECK(plain->nano() == with_sign->nano());
      CHECK(plain->format() == with_sign->format());
    }
}

TEST_CASE("Any whole number means what it means with a sign, whatever follows") {
  std::mt19937_64 random(1);
  constexpr std::string_view characters = "0123456789kKMGimun.eE";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = std::to_string(random() >> random() % 64);
    for (auto more = random() % 4; more > 0; --more)
      text += characters[random() % characters.size()];
    CAPTURE(text);
    const auto plain = Quantity::parse(text);
    const auto with_sign = Quantity::parse("+" + text);
    REQUIRE(plain.has_value() == with_sign.has_value());
    if (!plain) continue;
    CHECK(plain->nano() == with_sign->nano());
    CHECK(plain->format() == with_sign->format());
  }
}

TEST_CASE("Malformed quantities are refused") {
  for (const char* written :
       {"1ki", "1 Gi", "1KiB", "1e",   "1E+",   "1e-",   "1.2.3", "1..", "--1",
        "+-1", "1K",   "1mm",  "1Kik", "1e3Ki", "1e1.5", "0x10",  "1,5", " 1",
        "1 ",  "1i",   "a",    "NaN",  "1ee3",  "1Eii",  "1mi",   ""}) {
    CAPTURE(written);
    CHECK_FALSE(Quantity::parse(written));
  }
}

TEST_CASE("A quantity without a digit is refused as the CRDs' pattern refuses it") {
  // apimachinery itself reads these as zero; a zero that was never written would take a quota away.
  for (const char* written : {"-", "+", ".", "Gi", "e3", ".Gi"}) {
    CAPTURE(written);
    CHECK_FALSE(Quantity::parse(written));
  }
}

TEST_CASE("Decimals beyond exa keep their value where apimachinery loses the suffix") {
  CHECK(text_of("1000E") == "1000E");
  CHECK(text_of("100000000000000000000000") == "100000E");
  CHECK(Quantity::parse("1000E") == Quantity::parse("1e21"));
}

TEST_CASE("Values that 128 bits cannot hold saturate") {
  const Int128 most = ~(Int128{1} << 126 << 1);
  CHECK(Quantity::parse("1e40")->nano() == most);
  CHECK(Quantity::parse("-1e40")->nano() == -most);
  CHECK(Quantity::parse("1e2000000000")->nano() == most);
  CHECK(Quantity::parse("1e-2000000000")->nano() == 1);
  CHECK(Quantity::parse("0e2000000000")->nano() == 0);
  CHECK(Quantity::parse(std::string(1000, '9'))->nano() == most);
  CHECK_FALSE(Quantity::parse("1e99999999999999999999"));
}

TEST_CASE("Amounts are milli for cpu and whole units for the rest, rounded away from zero") {
  const auto amount = [](std::string_view resource, std::string_view written) {
    return to_amount(resource, *Quantity::parse(written));
  };
  CHECK(amount("cpu", "1") == 1000);
  CHECK(amount("cpu", "1.0001") == 1001);
  CHECK(amount("cpu", "1n") == 1);
  CHECK(amount("cpu", "-1.0001") == -1001);
  CHECK(amount("memory", "1Gi") == 1073741824);
  CHECK(amount("memory", "100m") == 1);
  CHECK(amount("nvidia.com/gpu", "7") == 7);
  CHECK(amount("memory", "1e30") == INT64_MAX);
  CHECK(amount("cpu", "9223372036854775807") == INT64_MAX);
  CHECK(amount("cpu", "-9223372036854775807") == INT64_MIN);
}

TEST_CASE("Amounts print in the suffix family of their resource") {
  CHECK(amount_text("cpu", 1500) == "1500m");
  CHECK(amount_text("cpu", 2000) == "2");
  CHECK(amount_text("memory", 1073741824) == "1Gi");
  CHECK(amount_text("ephemeral-storage", 1024) == "1Ki");
  CHECK(amount_text("hugepages-2Mi", 2097152) == "2Mi");
  CHECK(amount_text("memory", 1000) == "1k");  // below 1024 the decimal family takes over
  CHECK(amount_text("nvidia.com/gpu", 4000) == "4k");
  CHECK(amount_text("memory", 0) == "0");
  for (const char* resource : {"cpu", "memory", "pods"})
    for (const Amount amount : {Amount{1}, Amount{999}, Amount{1000}, Amount{1023}, Amount{1024},
                                Amount{1536}, Amount{1'000'000}, Amount{1} << 40,
                                Amount{5'000'000'000'000}, INT64_MAX - 1, INT64_MAX, Amount{-1500}})
      CHECK(amount_text(resource, amount) == to_quantity(resource, amount).text());
  CHECK(to_quantity("memory", Int128{1} << 120).nano() == ~(Int128{1} << 126 << 1));
}

TEST_CASE("The smallest step of a quota is a core, a mebibyte or one") {
  CHECK(quantum_of("cpu") == 1000);
  CHECK(quantum_of("memory") == 1048576);
  CHECK(quantum_of("ephemeral-storage") == 1048576);
  CHECK(quantum_of("hugepages-1Gi") == 1048576);
  CHECK(quantum_of("nvidia.com/gpu") == 1);
}

TEST_CASE("Quantities compare by value whatever their suffix") {
  CHECK(*Quantity::parse("1024") == *Quantity::parse("1Ki"));
  CHECK(*Quantity::parse("1000m") == *Quantity::parse("1"));
  CHECK(*Quantity::parse("1G") < *Quantity::parse("1Gi"));
  CHECK(Quantity::parse("-1")->negative());
}

}  // namespace
}  // namespace fairlead
