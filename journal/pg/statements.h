/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_STATEMENTS_H
#define TANDEM_JOURNAL_PG_STATEMENTS_H

// What is asked of the database. Parameters and fields are in the order in which the comment names
// them. `mine` is six parameters, $1 to $6: shard, epoch, holder, turn, seq, history. That the last
// two are as its owner knows them is asked, too: a database that has failed over to a server that
// did not have the last rows must neither go on behind a gap, nor be told to remove what is left.
//
// A turn is a number of the lease that rises each time it is taken or renewed, and is known to the
// connection that did so. What changes anything names it: a statement that a dead connection has
// left on its way to the server, and that arrives when the next one has renewed, finds another turn
// there, and changes nothing. So what was in doubt is settled by renewing, for good.

enum statement {
    LOOK,        // shard -> the lease
    TAKE,        // shard, epoch, holder, address, milliseconds, holder before -> the lease
    RENEW,       // shard, epoch, holder, milliseconds -> the lease
    ADD,         // shard, slot, unit, seq, epoch, batch: a row; the lease is seen to by another
    APPEND,      // mine, milliseconds, history, seq, unit, slot, batch: one row, or none
    APPEND_TELL, // the same, and wakes
    HOLD,        // mine -> oldest; nobody else changes the lease until the transaction ends
    PASS,        // shard, oldest
    RELEASE,     // mine; wakes -> one row, or none
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
// By which it is prepared.
const char *statement_name(enum statement statement);

#endif
