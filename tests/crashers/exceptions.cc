// SPDX-License-Identifier: Apache-2.0
// Exceptions caught and thrown on, destructors in landing pads, and one that nobody catches.
// signal: SIGABRT
#include <stdexcept>
#include <string>

static volatile int sink;

struct guard {
    int n;
    ~guard() { sink = sink + n; }
};

__attribute__((noinline)) static int inner(int n)
{
    guard g{n};
    if (n == 2)
        throw std::runtime_error("two");
    if (n == 4)
        throw 4;
    return n;
}

__attribute__((noinline)) static int middle(int n)
{
    guard g{n * 10};
    try {
        return inner(n);
    } catch (const std::exception &e) {
        sink = sink + e.what()[0];
        return inner(n + 1);
    }
}

int main()
{
    std::string text;

    for (int i = 0; i < 6; i++)
        text += std::to_string(middle(i));
    return static_cast<int>(text.size());
}
