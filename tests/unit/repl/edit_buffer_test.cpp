#include "compiler/repl/editor.h"

#include <doctest/doctest.h>

using gos::repl::EditBuffer;

TEST_CASE("letters go in at the cursor, which steps over whole characters") {
  EditBuffer buffer;
  buffer.insert("a\xc3\xa4\xe6\xbc\xa2");
  CHECK(buffer.columns() == 4); // the last one takes two
  buffer.left();
  buffer.insert("x");
  CHECK(buffer.text() == "a\xc3\xa4x\xe6\xbc\xa2");
  buffer.home();
  buffer.right();
  buffer.right();
  CHECK(buffer.columnsBefore() == 2);
  buffer.eraseBefore();
  CHECK(buffer.text() == "ax\xe6\xbc\xa2");
  buffer.end();
  buffer.eraseBefore();
  CHECK(buffer.text() == "ax");
}

TEST_CASE("a mark goes with its letter") {
  EditBuffer buffer;
  buffer.insert("e\xcc\x81z"); // e and a combining acute
  buffer.left();
  buffer.eraseBefore();
  CHECK(buffer.text() == "z");
}

TEST_CASE("words and lines are killed and given back") {
  EditBuffer buffer;
  buffer.insert("one two three");
  buffer.killWord();
  CHECK(buffer.text() == "one two ");
  buffer.yank();
  buffer.wordLeft();
  buffer.killToEnd();
  CHECK(buffer.text() == "one two ");
  buffer.killToStart();
  CHECK(buffer.text() == "");
  buffer.yank();
  CHECK(buffer.text() == "one two ");
}

TEST_CASE("nothing happens at the ends, and bytes that are no text do no harm") {
  EditBuffer buffer;
  buffer.left();
  buffer.right();
  buffer.eraseBefore();
  buffer.eraseAfter();
  buffer.killWord();
  buffer.wordLeft();
  buffer.wordRight();
  CHECK(buffer.text() == "");
  buffer.insert("\x80\xff\xc3");
  for (int i = 0; i < 5; ++i)
    buffer.left();
  for (int i = 0; i < 5; ++i)
    buffer.right();
  CHECK(buffer.cursor() == 3);
}

TEST_CASE("completion replaces the path before the cursor") {
  CHECK(gos::repl::wordStart("let x = fs::re") == 8);
  CHECK(gos::repl::wordStart("f(") == 2);
  CHECK(gos::repl::wordStart(":ty") == 0);
}
