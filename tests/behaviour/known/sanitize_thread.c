// opt: -O0 -O2
// flags: -fsanitize=thread
// output: 200
// Threads that make the same call: the bytes that say so are no race.
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
__attribute__((noinline)) static void add(void)
{
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
}
static void *worker(void *argument)
{
    for (int i = 0; i < 100; i++)
        add();
    return argument;
}
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", count);
    return 0;
}
