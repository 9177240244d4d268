// Every kind of site with counts that can be told by reading. A comment `expect KIND LEFT RIGHT: N...` says what the
// counters of the site on that line, with that left and right side, must be after one run at full rate.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <inquest.h>

int limit = 5;
unsigned total;
double ratio;
float small;

int sign(int x) // expect entry sign -: 9
{
    if (x < 0) // expect branch x_<_0 0: 7 2
        return -1;
    return x > 0; // a value, no branch
}

static int kind(int c) // expect entry kind -: 6
{
    switch (c) { // expect branch c_==_1 1: 5 1 // expect branch c_==_2 2: 6 0 // expect branch c_==_9 9: 5 1
    case 1:
        return 10;
    case 2:
    case 9:
        return 20;
    default:
        return 0;
    }
}

static char *find(const char *text, int c) // expect entry find -: 3
{
    char *found = strchr(text, c); // expect return strchr -: 0 1 2 // expect pair found NULL: 0 1 2
    return found;
}

static unsigned down(unsigned n)
{
    unsigned steps = 0; // expect pair steps n: 1 0 0
    while (n) { // expect branch n_!=_0 0: 1 4
        n--;
        steps++;
    }
    return steps;
}

static int (*pointer)(int) = sign;

int main(int argc, char **argv) // expect entry main -: 1
{
    int made = 0, i;

    for (i = -2; i < 6; i++) // expect branch i_<_6 6: 1 8
        made += sign(i); // expect return sign -: 2 1 5 // expect pair made limit: 8 0 0
    made = pointer(3); // expect return *fp -: 0 0 1 // expect pair made limit: 1 0 0
    for (i = 0; i < 6; i++) { // expect branch i_<_6 6: 1 6
        int k = kind(i * i); // expect return kind -: 0 4 2 // expect pair k i: 3 1 2
        INQUEST_WATCH(k == 10 && i); // expect watch k_==_10_&&_i -: 5 1
        made = k;
    }
    find("abc", 'b');
    find("abc", 'x');
    find("abc", 'c');
    total = down(4);
    double values[] = {0.0, -0.0, 1.5, -1.5, INFINITY, -INFINITY, NAN, 1e-310, -1e-310, 2.5};
    for (i = 0; i < 10; i++)
        ratio = values[i]; // expect float ratio -: 1 1 1 1 1 1 1 2 1
    for (i = 0; i < 4; i++)
        small = i - 1.5f; // expect float small -: 0 2 0 0 0 0 0 2 0
    small = 1e-42f; // expect float small -: 0 0 0 0 0 0 1 0 0
    bool many = argc > 1; // expect pair many 0: 0 1 0
    if (many) // expect branch many -: 1 0
        limit = atoi(argv[1]);
    return made + (int)total == 4 ? 0 : 1;
}
