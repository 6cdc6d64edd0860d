/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_STATEMENTS_H
#define TANDEM_JOURNAL_PG_STATEMENTS_H

// Statements for the database. Comments name parameters and fields in their order. `mine` is six
// parameters, $1 to $6: shard, epoch, holder, turn, seq, history. The last two must be as the owner
// knows them: if the database has failed over to a server without the last rows, it must neither go
// on after a gap nor remove other units.
//
// A turn is a number of the lease that increases each time the lease is taken or renewed, and is
// known to the connection that did so. Every change names it: a statement of a dead connection that
// arrives after the next connection has renewed the lease finds another turn, and changes nothing.
// So renewing resolves a doubt for good.

enum statement {
    LOOK,  // shard -> the lease
    TAKE,  // shard, epoch, holder, address, milliseconds, former holder -> the lease
    RENEW, // shard, epoch, holder, milliseconds -> the lease
    ADD,   // shard, slot, unit, seq, epoch, batch: a row; the lease is updated by another statement
    APPEND,      // mine, milliseconds, history, seq, unit, slot, batch: one row, or none
    APPEND_TELL, // the same, and wakes standbys
    HOLD,        // mine -> oldest; locks the lease until the transaction ends
    PASS,        // shard, oldest
    RELEASE,     // mine; wakes standbys -> one row, or none
    REPORT,      // shard, node, address, is owner, takes, epoch, seq -> members
    CARE,        // -> synchronous_commit, fsync, synchronous_standby_names
    STATEMENTS
};

// Columns of the lease.
enum {
    LEASE_EPOCH,
    LEASE_OLDEST,
    LEASE_UNIT,
    LEASE_SEQ,
    LEASE_HOLDER,
    LEASE_ADDRESS,
    LEASE_SINCE, // milliseconds since 1970
    LEASE_LEFT,  // microseconds
    LEASE_RELEASED,
    LEASE_TURN,
    LEASE_HISTORY
};

// Columns of a member.
enum {
    MEMBER_NODE,
    MEMBER_ADDRESS,
    MEMBER_OWNER,
    MEMBER_TAKES,
    MEMBER_EPOCH,
    MEMBER_SEQ,
    MEMBER_SEEN
};

const char *statement_text(enum statement statement);
// The name of the prepared statement.
const char *statement_name(enum statement statement);

#endif
