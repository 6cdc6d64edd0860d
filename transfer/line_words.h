/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_LINE_WORDS_H
#define TANDEM_TRANSFER_LINE_WORDS_H

// The words of a line, by what they stand for; each list ends with NULL.

extern const char *const line_states[];    // enum job_state; held jobs are ready
extern const char *const line_on_fail[];   // enum on_fail
extern const char *const line_on_loss[];   // enum on_loss
extern const char *const line_key_kinds[]; // enum key_kind
extern const char *const line_dead_whys[]; // enum dead_reason, without the first

#endif
