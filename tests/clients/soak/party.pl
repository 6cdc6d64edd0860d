# SPDX-License-Identifier: MIT
# A party of a soak, in Perl: party.pl ROLE NUMBER SEED STOP_FILE. What it writes, book.py tells.

use strict;
use warnings;

use Gearman::Client;
use Gearman::Worker;
use Time::HiRes qw(sleep);

my ($role, $number, $seed, $stop_file) = @ARGV;
my $server = $ENV{GEARMAN_ADDRESS};
my $count  = 0;

srand $seed;
$| = 1;

# One write for each line: what is killed leaves no half of one.
sub note {
    syswrite STDOUT, "@_\n";
    return;
}

sub any_queue {
    return 'soak-' . int rand 3;
}

sub new_job {
    my $ending = shift;
    return "$number-" . ++$count . $ending;
}

sub work {
    my $worker = Gearman::Worker->new(job_servers => [$server]);
    for my $queue (0 .. 2) {
        $worker->register_function("soak-$queue", sub {
            my $job = shift->arg;
            note('took', $job);
            sleep rand 0.01;
            note('finishing', $job);
            return $job =~ /-fail$/ ? undef : "done $job";
        });
    }
    $worker->work;
    return;
}

sub put_some {
    my $client = shift;
    for (1 .. 1 + rand 5) {
        my $job = new_job('-bg');
        note('put', $job);
        my $priority = (qw(high normal low))[rand 3];
        $client->dispatch_background(any_queue(), $job, {priority => $priority}) or die 'refused';
        note('accepted', $job);
    }
    return;
}

sub call_some {
    my $client = shift;
    my $tasks  = $client->new_task_set;
    for (1 .. 1 + rand 10) {
        my $job = new_job(rand() < 0.1 ? '-fail' : '-fg');
        note('call', $job);
        $tasks->add_task(any_queue(), $job, {
            on_complete => sub { note('answer', $job, ${$_[0]}) },
            on_fail     => sub { note('answer', $job, 'failed') },
        }) or die 'refused';
    }
    $tasks->wait;
    return;
}

sub submit {
    my $client = Gearman::Client->new(job_servers => [$server]);
    until (-e $stop_file) {
        rand() < 0.5 ? put_some($client) : call_some($client);
        sleep rand 0.05;
    }
    return;
}

$role eq 'gearman-worker' ? work() : submit();
