// SPDX-License-Identifier: Apache-2.0
// Inline functions and templates that two units have, exceptions caught on the way.
// with: comdat_other.cc
// signal: SIGSEGV
#include "comdat.hh"

int main()
{
    int sum = other(3);

    try {
        sum += table<int>::at(nullptr, -1);
    } catch (int n) {
        sum += n;
    }
    return sum + table<int>::at(reinterpret_cast<int *>(16), 2) + shared_step(sum);
}
