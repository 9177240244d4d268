unsigned here(unsigned n, unsigned a);
unsigned there(unsigned n, unsigned a);

unsigned there(unsigned n, unsigned a)
{
    return n == 0 ? ~a : here(n - 1, a ^ n);
}
