// Stands in front of the C library's look-up of names: says that it was asked, by the file `asked`,
// and answers when there is a file `answer`.

#include <fcntl.h>
#include <netdb.h>
#include <unistd.h>

extern "C" int getaddrinfo(const char*, const char*, const addrinfo*, addrinfo** found) {
  *found = nullptr;
  ::close(::open("asked", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  while (::access("answer", F_OK) != 0)
    ::usleep(1000);
  return EAI_NONAME;
}
