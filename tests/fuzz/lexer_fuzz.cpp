// The lexer meets any bytes: tokens stay in order and inside the text, and string bodies decode.

#include "compiler/lex/lexer.h"
#include "compiler/lex/strings.h"

#include "llvm/ADT/SmallString.h"

#include <cstdlib>

using namespace gos;

static void require(bool holds) {
  if (!holds)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SourceMap sources;
  Engine engine(sources);
  const llvm::StringRef text(reinterpret_cast<const char*>(data), size);
  const FileId id = llvm::cantFail(sources.addCopy("fuzz.gos", text));
  const SourceFile& file = sources.file(id);
  uint32_t end = file.base;
  llvm::SmallString<64> value;
  for (const lex::Token& token : lex::lexFile(file, engine)) {
    require(token.begin >= end && token.end >= token.begin);
    require(token.end <= file.base + file.size());
    end = token.end;
    value.clear();
    switch (token.kind) {
    case lex::TokenKind::String:
    case lex::TokenKind::RawString:
    case lex::TokenKind::TripleString:
    case lex::TokenKind::ByteString:
    case lex::TokenKind::RawByteString: {
      const lex::StringBody body = lex::bodyOf(file, token, engine);
      lex::appendText(body, body.begin, body.end, lex::Braces::Data, value, engine);
      break;
    }
    case lex::TokenKind::FString:
    case lex::TokenKind::TripleFString: {
      llvm::SmallVector<lex::FStringPart, 4> parts;
      const lex::StringBody body = lex::cutFString(file, token, parts, engine);
      for (const lex::FStringPart& part : parts) {
        require(part.text.begin <= part.text.end);
        lex::appendText(body, part.text.begin, part.text.end, lex::Braces::Doubled, value, engine);
      }
      break;
    }
    case lex::TokenKind::Char:
    case lex::TokenKind::Byte:
      lex::characterValue(file, token, engine);
      break;
    default:
      break;
    }
  }
  return 0;
}
