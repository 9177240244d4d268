// SPDX-License-Identifier: Apache-2.0
// For comdat.cc and comdat_other.cc.
inline volatile int sink;

__attribute__((noinline)) inline int shared_step(int n)
{
    for (int i = 0; i < n; i++)
        sink = sink + i;
    return sink;
}

template <typename T> struct table {
    __attribute__((noinline)) static T at(const T *items, int index)
    {
        if (index < 0)
            throw 7;
        if (shared_step(index) < 0)
            return 0;
        return items[index];
    }
};

int other(int n);
