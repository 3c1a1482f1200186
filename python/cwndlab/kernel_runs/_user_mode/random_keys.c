// SPDX-License-Identifier: GPL-2.0
/*
 * The keys of a user-mode kernel's random numbers in virtual time: a function of the environment
 * variable CWNDLAB_SEED of the process alone, so that ports, initial sequence numbers and hash
 * seeds after a reseeding are the same in each run of one seed. splitmix64 (Steele, Lea and Flood,
 * OOPSLA 2014).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

void cwndlab_key(void *to, size_t length)
{
	const char *seed = getenv("CWNDLAB_SEED");
	uint64_t state = seed ? strtoull(seed, NULL, 10) : 0;
	uint64_t word;
	size_t done, part;

	for (done = 0; done < length; done += part) {
		state += 0x9e3779b97f4a7c15ull;
		word = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ull;
		word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
		word ^= word >> 31;
		part = length - done < sizeof(word) ? length - done : sizeof(word);
		memcpy((char *)to + done, &word, part);
	}
}
