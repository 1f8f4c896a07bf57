// std::io: the program's own streams, and readers and writers in memory.

#include "stdlib/host_state.h"
#include "stdlib/support.h"

#include "vm/text.h"

namespace gos::stdlib {

namespace {

constexpr unsigned kDeepestReader = 32;

/// What is read is text: bytes that are not UTF-8 become U+FFFD.
std::string asText(std::string bytes) {
  if (vm::isValidUtf8(bytes))
    return bytes;
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    unsigned length = 1;
    char buffer[4];
    const unsigned width = vm::encodeScalar(vm::decodeScalar(bytes, at, length), buffer);
    out.append(buffer, width);
    at += length;
  }
  return out;
}

/// Buffers live outside the guest's heap: their bytes are held against its limit all the same, and
/// charged as work.
Trap chargeBuffer(Vm& vm, uint64_t bytes) {
  LibraryHost& host = hostOf(vm);
  if (bytes > vm.heap().limit() - std::min(host.buffered, vm.heap().limit()))
    return vm.heapTrap();
  host.buffered += bytes;
  return chargeBulk(vm, bytes);
}

/// Takes at most `count` bytes from a reader. Adapters read through others, which a program may tie
/// into a knot of any shape: the depth is bounded and every step is charged.
Trap take(Vm& vm, int64_t number, uint64_t count, unsigned depth, std::string& out) {
  HandleTable& handles = hostOf(vm).handles();
  if (Trap trap = vm.charge(1))
    return trap;
  auto* reader = handles.find<ReaderHandle>(number);
  if (reader == nullptr || depth > kDeepestReader)
    return {};
  count = std::min(count, reader->limit);
  const size_t before = out.size();
  out += StringRef(reader->bytes).substr(reader->position, count);
  reader->position += out.size() - before;
  if (reader->position >= reader->bytes.size()) { // all given out
    hostOf(vm).buffered -= std::min<uint64_t>(hostOf(vm).buffered, reader->bytes.size());
    reader->bytes.clear();
    reader->position = 0;
  }
  const std::vector<int64_t> sources = reader->sources;
  for (int64_t source : sources) {
    if (out.size() - before >= count)
      break;
    if (Trap trap = take(vm, source, count - (out.size() - before), depth + 1, out))
      return trap;
  }
  const uint64_t taken = out.size() - before;
  if (reader->limit != ~uint64_t(0))
    reader->limit -= std::min<uint64_t>(reader->limit, taken);
  if (auto* sink = handles.find<WriterHandle>(reader->sink); sink != nullptr && !sink->closed) {
    if (Trap trap = chargeBuffer(vm, taken))
      return trap;
    sink->bytes.append(out, before);
  }
  return {};
}

/// False when there is no such writer, or it is closed.
Trap putTo(Vm& vm, int64_t number, StringRef bytes, bool& done) {
  HandleTable& handles = hostOf(vm).handles();
  auto* writer = handles.find<WriterHandle>(number);
  done = writer != nullptr && !writer->closed;
  if (!done)
    return {};
  if (Trap trap = chargeBuffer(vm, bytes.size()))
    return trap;
  if (auto* reader = handles.find<ReaderHandle>(writer->reader))
    reader->bytes.append(bytes.data(), bytes.size());
  else
    writer->bytes.append(bytes.data(), bytes.size());
  return {};
}

/// A handle takes memory of the tool: making one costs as much as a few hundred instructions.
constexpr uint64_t kHandleSteps = 1024;

Trap returnReader(Arguments& arguments, std::unique_ptr<ReaderHandle> reader) {
  return arguments.returnInteger(hostOf(arguments.vm()).handles().add(std::move(reader)));
}

} // namespace

namespace bodies {

// ---- the program's streams
// --------------------------------------------------------------------------

namespace {

struct Piece {
  ByteSource::Ended ended = ByteSource::Ended::Done;
  std::string bytes;
};

Trap returnPiece(Arguments& arguments, Piece& piece) {
  switch (piece.ended) {
  case ByteSource::Ended::Done:
    return arguments.returnOkBytes(piece.bytes);
  case ByteSource::Ended::TooLarge:
    return arguments.vm().heapTrap();
  case ByteSource::Ended::Interrupted:
    return arguments.returnErr(kCancelled);
  }
  return {};
}

/// All that is left of standard input.
template <class Finish> Trap readRest(Arguments& arguments, Finish finish) {
  LibraryHost& host = hostOf(arguments.vm());
  host.flush();
  return offload(
      arguments,
      [source = host.input(), cap = arguments.vm().heap().available()](Interrupt& interrupt) {
        Piece piece;
        piece.ended = source->rest(piece.bytes, cap, interrupt);
        return piece;
      },
      std::move(finish));
}

} // namespace

/// Appends a line that is there. -1: one has been waited for, and it is to be asked for again; a
/// job cannot write to what its caller lent.
Trap IoReadLine(Arguments& arguments) {
  LibraryHost& host = hostOf(arguments.vm());
  std::string line;
  if (host.input()->lineNow(line)) {
    line = asText(std::move(line));
    Value& slot = arguments.slot(0);
    Vm& vm = arguments.vm();
    if (!vm.heap().makeUnique(slot) || !vm.heap().append(vm::asString(slot), line))
      return vm.heapTrap();
    return arguments.returnOkInteger(int64_t(line.size()));
  }
  host.flush();
  return offload(
      arguments,
      [source = host.input(), cap = arguments.vm().heap().available()](Interrupt& interrupt) {
        return source->awaitLine(cap, interrupt);
      },
      [](Arguments& answered, ByteSource::Ended& ended) {
        switch (ended) {
        case ByteSource::Ended::Done:
          return answered.returnOkInteger(-1);
        case ByteSource::Ended::TooLarge:
          return answered.vm().heapTrap();
        case ByteSource::Ended::Interrupted:
          return answered.returnErr(kCancelled);
        }
        return Trap();
      });
}

Trap IoReadStdin(Arguments& arguments) {
  return readRest(arguments, returnPiece);
}

Trap IoReadStdinText(Arguments& arguments) {
  return readRest(arguments, [](Arguments& answered, Piece& piece) {
    return piece.ended == ByteSource::Ended::TooLarge
               ? answered.vm().heapTrap()
               : answered.returnString(asText(std::move(piece.bytes)));
  });
}

Trap IoReadSome(Arguments& arguments) {
  LibraryHost& host = hostOf(arguments.vm());
  const uint64_t max = std::min(uint64_t(std::max<int64_t>(arguments.integer(0), 0)),
                                arguments.vm().heap().available());
  Piece now;
  if (host.input()->someNow(now.bytes, max))
    return returnPiece(arguments, now);
  host.flush();
  return offload(
      arguments,
      [source = host.input(), max](Interrupt& interrupt) {
        Piece piece;
        piece.ended = source->some(piece.bytes, max, interrupt);
        return piece;
      },
      returnPiece);
}

Trap IoWrite(Arguments& arguments) {
  LibraryHost& host = hostOf(arguments.vm());
  if (arguments.integer(0) == 1)
    host.write(Stream::Output, contentsOf(arguments, 1));
  else if (arguments.integer(0) == 2)
    host.write(Stream::Error, contentsOf(arguments, 1));
  else
    return Trap::incompatible("the writer is closed, or is no stream of this program");
  if (Trap trap = host.takeOutputTrap())
    return trap;
  return arguments.returnUnit();
}

Trap IoFlush(Arguments& arguments) {
  if (!arguments.vm().inFold())
    if (Trap trap = finishOutput(arguments.vm()))
      return trap;
  return arguments.returnUnit();
}

// ---- in memory
// --------------------------------------------------------------------------------------

/// What `io::Reader` and `io::Writer` do for a number that is a handle.
Trap IoHandleRead(Arguments& arguments) {
  Vm& vm = arguments.vm();
  if (hostOf(vm).handles().find<ReaderHandle>(arguments.integer(0)) == nullptr)
    return arguments.returnErr("the reader is closed, or is no reader of this program");
  std::string bytes;
  const uint64_t max = uint64_t(std::max<int64_t>(arguments.integer(1), 0));
  if (Trap trap = take(vm, arguments.integer(0), max, 0, bytes))
    return trap;
  if (Trap trap = chargeBulk(vm, bytes.size()))
    return trap;
  return arguments.returnOkBytes(bytes);
}
Trap IoHandleWrite(Arguments& arguments) {
  bool done = false;
  const StringRef bytes = bytesOf(arguments, 1);
  if (Trap trap = putTo(arguments.vm(), arguments.integer(0), bytes, done))
    return trap;
  return done ? arguments.returnOkInteger(int64_t(bytes.size()))
              : arguments.returnErr("the writer is closed, or is no writer of this program");
}

/// Where a byte first is at or after `from`; -1 if it is not.
Trap IoBytePosition(Arguments& arguments) {
  const StringRef bytes = bytesOf(arguments, 0);
  const uint64_t from = uint64_t(std::max<int64_t>(arguments.integer(2), 0));
  const size_t at = bytes.find(char(arguments.integer(1)), from);
  const uint64_t looked = std::min<uint64_t>(at, bytes.size()) -
                          std::min<uint64_t>(from, std::min<uint64_t>(at, bytes.size()));
  if (Trap trap = chargeBulk(arguments.vm(), looked))
    return trap;
  return arguments.returnInteger(at == StringRef::npos ? -1 : int64_t(at));
}
Trap IoLossyText(Arguments& arguments) {
  const StringRef bytes = bytesOf(arguments, 0);
  if (Trap trap = chargeBulk(arguments.vm(), bytes.size()))
    return trap;
  return arguments.returnString(asText(bytes.str()));
}

Trap IoStringReader(Arguments& arguments) {
  if (Trap trap = arguments.vm().charge(kHandleSteps))
    return trap;
  if (Trap trap = chargeBuffer(arguments.vm(), arguments.string(0).size()))
    return trap;
  auto reader = std::make_unique<ReaderHandle>();
  reader->bytes = arguments.string(0).str();
  return returnReader(arguments, std::move(reader));
}

Trap IoBufferWriter(Arguments& arguments) {
  if (Trap trap = arguments.vm().charge(kHandleSteps))
    return trap;
  return arguments.returnInteger(
      hostOf(arguments.vm()).handles().add(std::make_unique<WriterHandle>()));
}

Trap IoLimitReader(Arguments& arguments) {
  if (Trap trap = arguments.vm().charge(kHandleSteps))
    return trap;
  auto reader = std::make_unique<ReaderHandle>();
  reader->sources = {arguments.integer(0)};
  reader->limit = uint64_t(std::max<int64_t>(arguments.integer(1), 0));
  return returnReader(arguments, std::move(reader));
}

Trap IoTeeReader(Arguments& arguments) {
  if (Trap trap = arguments.vm().charge(kHandleSteps))
    return trap;
  auto reader = std::make_unique<ReaderHandle>();
  reader->sources = {arguments.integer(0)};
  reader->sink = arguments.integer(1);
  return returnReader(arguments, std::move(reader));
}

Trap IoMultiReader(Arguments& arguments) {
  const VecObject* sources = arguments.vec(0);
  if (Trap trap = arguments.vm().charge(kHandleSteps))
    return trap;
  if (Trap trap = chargeBuffer(arguments.vm(), sources->length * 8))
    return trap;
  auto reader = std::make_unique<ReaderHandle>();
  for (uint64_t i = 0; i < sources->length; ++i)
    reader->sources.push_back(vm::asInteger(sources->slots[i]));
  return returnReader(arguments, std::move(reader));
}

Trap IoPipe(Arguments& arguments) {
  if (Trap trap = arguments.vm().charge(2 * kHandleSteps))
    return trap;
  HandleTable& handles = hostOf(arguments.vm()).handles();
  const int64_t reader = handles.add(std::make_unique<ReaderHandle>());
  auto writer = std::make_unique<WriterHandle>();
  writer->reader = reader;
  const Value fields[] = {vm::fromInteger(reader), vm::fromInteger(handles.add(std::move(writer)))};
  return arguments.returnOwned(Builder(arguments.vm()).structure(arguments.resultLayout(), fields));
}

Trap IoCopyN(Arguments& arguments) {
  Vm& vm = arguments.vm();
  HandleTable& handles = hostOf(vm).handles();
  if (handles.find<WriterHandle>(arguments.integer(0)) == nullptr)
    return arguments.returnErr("the writer is closed, or is no writer of this program");
  if (handles.find<ReaderHandle>(arguments.integer(1)) == nullptr)
    return arguments.returnErr("the reader is closed, or is no reader of this program");
  std::string bytes;
  if (Trap trap = take(vm, arguments.integer(1),
                       uint64_t(std::max<int64_t>(arguments.integer(2), 0)), 0, bytes))
    return trap;
  bool done = false;
  if (Trap trap = putTo(vm, arguments.integer(0), bytes, done))
    return trap;
  return done ? arguments.returnOkInteger(int64_t(bytes.size()))
              : arguments.returnErr("the writer is closed");
}

Trap IoDrain(Arguments& arguments) {
  Vm& vm = arguments.vm();
  if (hostOf(vm).handles().find<ReaderHandle>(arguments.integer(0)) == nullptr)
    return Trap::incompatible("the reader is closed, or is no reader of this program");
  std::string bytes;
  if (Trap trap = take(vm, arguments.integer(0), ~uint64_t(0), 0, bytes))
    return trap;
  if (Trap trap = chargeBulk(vm, bytes.size()))
    return trap;
  return arguments.returnString(asText(std::move(bytes)));
}

Trap IoContents(Arguments& arguments) {
  const auto* writer = hostOf(arguments.vm()).handles().find<WriterHandle>(arguments.integer(0));
  if (writer == nullptr)
    return Trap::incompatible("the writer is closed, or is no writer of this program");
  return arguments.returnString(asText(writer->bytes));
}

Trap IoWriteHandle(Arguments& arguments) {
  bool done = false;
  if (Trap trap = putTo(arguments.vm(), arguments.integer(0), arguments.string(1), done))
    return trap;
  if (!done)
    return Trap::incompatible("the writer is closed, or is no writer of this program");
  return arguments.returnInteger(int64_t(arguments.string(1).size()));
}

Trap IoCloseWriter(Arguments& arguments) {
  if (auto* writer = hostOf(arguments.vm()).handles().find<WriterHandle>(arguments.integer(0)))
    writer->closed = true;
  return arguments.returnUnit();
}

} // namespace bodies
} // namespace gos::stdlib
