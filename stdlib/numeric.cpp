// Methods of numbers: Int stands for every integer width, Float for f64 and f32.

#include "stdlib/numbers.h"
#include "stdlib/support.h"

#include "vm/format.h"
#include "vm/structural.h"

#include <bit>
#include <cmath>
#include <limits>

namespace gos::stdlib {

namespace {

using vm::IntWidth;

unsigned bitsOf(IntWidth width) {
  switch (width) {
  case IntWidth::I8:
  case IntWidth::U8:
    return 8;
  case IntWidth::I16:
  case IntWidth::U16:
    return 16;
  case IntWidth::I32:
  case IntWidth::U32:
    return 32;
  case IntWidth::I64:
  case IntWidth::U64:
    return 64;
  }
  return 64;
}

bool fits(__int128 value, IntWidth width) {
  const unsigned bits = bitsOf(width);
  const __int128 one = 1;
  if (vm::isSigned(width))
    return value >= -(one << (bits - 1)) && value < (one << (bits - 1));
  return value >= 0 && value < (one << bits);
}

__int128 wide(const Arguments& arguments, size_t i) {
  return vm::isSigned(arguments.layout(i).width) ? __int128(arguments.integer(i))
                                                 : __int128(uint64_t(arguments.integer(i)));
}

Trap returnChecked(Arguments& arguments, __int128 value, StringRef word) {
  if (!fits(value, arguments.layout(0).width))
    return Trap::panic(("attempt to " + word + " with overflow").str());
  return arguments.returnInteger(int64_t(value));
}

bool isSingle(const Arguments& arguments) {
  return arguments.layout(0).scalar == vm::ScalarKind::F32;
}

Trap returnRounded(Arguments& arguments, double value) {
  return arguments.returnReal(isSingle(arguments) ? double(float(value)) : value);
}

} // namespace

namespace bodies {

Trap AnyToString(Arguments& arguments) {
  return StringFrom(arguments);
}

Trap AnyClone(Arguments& arguments) {
  return arguments.returnOwned(
      arguments.vm().retainValue(arguments.slot(0), arguments.layoutId(0)));
}

// ---- integers -----------------------------------------------------------------------------------

Trap IntAbs(Arguments& arguments) {
  const __int128 value = wide(arguments, 0);
  return returnChecked(arguments, value < 0 ? -value : value, "negate");
}
Trap IntSignum(Arguments& arguments) {
  const __int128 value = wide(arguments, 0);
  return arguments.returnInteger(value > 0 ? 1 : value < 0 ? -1 : 0);
}
Trap IntMin(Arguments& arguments) {
  return arguments.returnInteger(wide(arguments, 1) < wide(arguments, 0) ? arguments.integer(1)
                                                                         : arguments.integer(0));
}
Trap IntMax(Arguments& arguments) {
  return arguments.returnInteger(wide(arguments, 1) > wide(arguments, 0) ? arguments.integer(1)
                                                                         : arguments.integer(0));
}
Trap IntClamp(Arguments& arguments) {
  if (wide(arguments, 0) < wide(arguments, 1))
    return arguments.returnInteger(arguments.integer(1));
  return arguments.returnInteger(wide(arguments, 0) > wide(arguments, 2) ? arguments.integer(2)
                                                                         : arguments.integer(0));
}
Trap IntPow(Arguments& arguments) {
  const __int128 base = wide(arguments, 0);
  const int64_t exponent = arguments.integer(1);
  if (exponent < 0)
    return Trap::panic("pow: the exponent is " + std::to_string(exponent) +
                       " but must not be negative");
  if (base == 0 || base == 1 || exponent == 0)
    return arguments.returnInteger(exponent == 0 ? 1 : int64_t(base));
  if (base == -1)
    return arguments.returnInteger(exponent % 2 == 0 ? 1 : -1);
  __int128 result = 1;
  for (int64_t i = 0; i < exponent; ++i) { // at most 64 rounds: the base is 2 or more
    result *= base;
    if (!fits(result, arguments.layout(0).width))
      return Trap::panic("attempt to multiply with overflow");
  }
  return arguments.returnInteger(int64_t(result));
}
Trap IntCountOnes(Arguments& arguments) {
  const unsigned bits = bitsOf(arguments.layout(0).width);
  const uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return arguments.returnInteger(std::popcount(uint64_t(arguments.integer(0)) & mask));
}
Trap IntLeadingZeros(Arguments& arguments) {
  const unsigned bits = bitsOf(arguments.layout(0).width);
  const uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return arguments.returnInteger(std::countl_zero(uint64_t(arguments.integer(0)) & mask) -
                                 int(64 - bits));
}
Trap IntTrailingZeros(Arguments& arguments) {
  const int bits = int(bitsOf(arguments.layout(0).width));
  return arguments.returnInteger(std::min(std::countr_zero(uint64_t(arguments.integer(0))), bits));
}

// ---- floats -------------------------------------------------------------------------------------

#define GOS_FLOAT_ONE(name, expression)                                                            \
  Trap name(Arguments& arguments) {                                                                \
    const double x = arguments.real(0);                                                            \
    return returnRounded(arguments, expression);                                                   \
  }
#define GOS_FLOAT_TWO(name, expression)                                                            \
  Trap name(Arguments& arguments) {                                                                \
    const double x = arguments.real(0);                                                            \
    const double y = arguments.real(1);                                                            \
    return returnRounded(arguments, expression);                                                   \
  }
GOS_FLOAT_ONE(FloatAbs, std::fabs(x))
GOS_FLOAT_ONE(FloatSqrt, std::sqrt(x))
GOS_FLOAT_ONE(FloatCbrt, std::cbrt(x))
GOS_FLOAT_ONE(FloatFloor, std::floor(x))
GOS_FLOAT_ONE(FloatCeil, std::ceil(x))
GOS_FLOAT_ONE(FloatRound, std::round(x))
GOS_FLOAT_ONE(FloatTrunc, std::trunc(x))
GOS_FLOAT_ONE(FloatSin, std::sin(x))
GOS_FLOAT_ONE(FloatCos, std::cos(x))
GOS_FLOAT_ONE(FloatTan, std::tan(x))
GOS_FLOAT_ONE(FloatAsin, std::asin(x))
GOS_FLOAT_ONE(FloatAcos, std::acos(x))
GOS_FLOAT_ONE(FloatAtan, std::atan(x))
GOS_FLOAT_ONE(FloatSinh, std::sinh(x))
GOS_FLOAT_ONE(FloatCosh, std::cosh(x))
GOS_FLOAT_ONE(FloatTanh, std::tanh(x))
GOS_FLOAT_ONE(FloatExp, std::exp(x))
GOS_FLOAT_ONE(FloatExp2, std::exp2(x))
GOS_FLOAT_ONE(FloatLn, std::log(x))
GOS_FLOAT_ONE(FloatLog2, std::log2(x))
GOS_FLOAT_ONE(FloatLog10, std::log10(x))
GOS_FLOAT_ONE(FloatSignum, std::isnan(x) ? x : std::copysign(1.0, x))
GOS_FLOAT_ONE(FloatFract, x - std::trunc(x))
GOS_FLOAT_ONE(FloatToDegrees, x * (180.0 / 3.141592653589793))
GOS_FLOAT_ONE(FloatToRadians, x * (3.141592653589793 / 180.0))
GOS_FLOAT_TWO(FloatAtan2, std::atan2(x, y))
GOS_FLOAT_TWO(FloatPow, std::pow(x, y))
GOS_FLOAT_TWO(FloatPowf, std::pow(x, y))
GOS_FLOAT_TWO(FloatLog, std::log(x) / std::log(y))
GOS_FLOAT_TWO(FloatHypot, std::hypot(x, y))
GOS_FLOAT_TWO(FloatRem, std::fmod(x, y))
GOS_FLOAT_TWO(FloatCopysign, std::copysign(x, y))
GOS_FLOAT_TWO(FloatPositiveDiff, std::fdim(x, y))
GOS_FLOAT_TWO(FloatMin, std::fmin(x, y))
GOS_FLOAT_TWO(FloatMax, std::fmax(x, y))
#undef GOS_FLOAT_ONE
#undef GOS_FLOAT_TWO

Trap FloatPowi(Arguments& arguments) {
  return returnRounded(arguments, std::pow(arguments.real(0), double(arguments.integer(1))));
}
Trap FloatClamp(Arguments& arguments) {
  const double x = arguments.real(0);
  if (x < arguments.real(1))
    return arguments.returnReal(arguments.real(1));
  return arguments.returnReal(x > arguments.real(2) ? arguments.real(2) : x);
}
Trap FloatIsNan(Arguments& arguments) {
  return arguments.returnBoolean(std::isnan(arguments.real(0)));
}
Trap FloatIsFinite(Arguments& arguments) {
  return arguments.returnBoolean(std::isfinite(arguments.real(0)));
}
Trap FloatIsInfinite(Arguments& arguments) {
  return arguments.returnBoolean(std::isinf(arguments.real(0)));
}
Trap FloatToBits(Arguments& arguments) {
  return arguments.returnInteger(int64_t(std::bit_cast<uint64_t>(arguments.real(0))));
}
Trap FloatFromBits(Arguments& arguments) {
  return arguments.returnReal(std::bit_cast<double>(arguments.integer(0)));
}

// ---- text to number
// -------------------------------------------------------------------------------

Trap StringToI64(Arguments& arguments) {
  arguments.vm().heap().chargeText(arguments.string(0).size() * 4);
  int64_t value = 0;
  return parseSigned(arguments.string(0), 10, value) == NumberFault::None
             ? arguments.returnSomeInteger(value)
             : arguments.returnNone();
}
Trap StringToF64(Arguments& arguments) {
  arguments.vm().heap().chargeText(arguments.string(0).size() * 4);
  double value = 0;
  return parseReal(arguments.string(0), value) == NumberFault::None
             ? arguments.returnSomeReal(value)
             : arguments.returnNone();
}
Trap StringToBool(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  return text == "true" || text == "false" ? arguments.returnSomeInteger(text == "true")
                                           : arguments.returnNone();
}

} // namespace bodies
} // namespace gos::stdlib
