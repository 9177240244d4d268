// SPDX-License-Identifier: Apache-2.0
#include "path/solve.h"
void system_solve(struct solving *solving)
{
    search_solve(solving);
}
