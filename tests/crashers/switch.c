// SPDX-License-Identifier: Apache-2.0
// A large switch in a loop, with fall-through, a default in the middle, ranges and duplicates.
// signal: SIGSEGV
static volatile int sink;

__attribute__((noinline)) static int dispatch(const unsigned char *text, const int *table)
{
    int sum = 0;

    for (;; text++) {
        switch (*text) {
        case 'a' ... 'f':
            sum += 1;
            break;
        case 'g':
        case 'h':
            sum += 2; // fallthrough
        case 'i':
            sum += table == 0 ? 1 : 3;
            break;
        default:
            sum -= 1;
            continue;
        case '0' ... '9':
            if (sum > 8)
                sum += table[*text];
            break;
        case '\0':
            return sum;
        }
        sink = sum;
    }
}

int main(void)
{
    return dispatch((const unsigned char *)"abzg1hi?agh7z", (const int *)16);
}
