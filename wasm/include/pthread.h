/* pthread.h - the locks of a program with one thread, for the lists of words of which a plan asks the memory. */
#ifndef TCT_WASM_PTHREAD_H
#define TCT_WASM_PTHREAD_H
typedef int pthread_mutex_t;
#define pthread_mutex_init(lock, attributes) ((void)(lock))
#define pthread_mutex_lock(lock) ((void)(lock))
#define pthread_mutex_unlock(lock) ((void)(lock))
#define pthread_mutex_destroy(lock) ((void)(lock))
#endif
