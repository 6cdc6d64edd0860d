# SPDX-License-Identifier: MIT
# Gearman::Client and Gearman::Worker, as Debian packages them. Each test has a function of its own,
# and its workers are processes; GEARMAN_ADDRESS (host:port) says where the server is. If TLS_CA is
# set, it speaks TLS, and that is the file of who vouches for it.

use strict;
use warnings;

use Gearman::Client;
use Gearman::Worker;
use POSIX qw(_exit);
use Test::More;

my $address = $ENV{GEARMAN_ADDRESS};
my ($name, @workers, @tests);

# As clients and workers take it.
sub server {
    my $authority = $ENV{TLS_CA} or return $address;
    my ($host, $port) = split /:/, $address;
    return {host => $host, port => $port, use_ssl => 1, ca_file => $authority};
}

sub client {
    return Gearman::Client->new(job_servers => [server()], @_);
}

# Starts a process that does the jobs of the functions: name => code, or name => [timeout, code].
# The code is called with the job and the worker.
sub worker {
    my ($functions, %options) = @_;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        open STDERR, '>', '/dev/null';    # it warns of jobs that die
        work($functions, %options);
    }
    push @workers, $pid;
    return $pid;
}

# Works until the worker dies of an answer that it does not expect, as it does after an exception.
sub work {
    my ($functions, %options) = @_;
    eval {
        my $worker = Gearman::Worker->new(job_servers => [server()], %options);
        for my $function (keys %$functions) {
            my $code    = $functions->{$function};
            my @timeout = ref $code eq 'ARRAY' ? shift @$code : ();
            $code = $code->[0] if @timeout;
            $worker->register_function($function, @timeout, sub { $code->(shift, $worker) });
        }
        $worker->work while 1;
    };
    _exit(1);
}

sub stop {
    my $pid = shift;
    kill KILL => $pid;
    waitpid $pid, 0;
    return;
}

# A pipe by which workers tell what they do, line by line.
sub tape {
    pipe my $from, my $to or die "pipe: $!";
    $to->autoflush(1);
    return (sub { print $to "@_\n" }, sub { chomp(my $line = <$from>); $line });
}

sub until_true {
    my $look = shift;
    my $found;
    1 until $found = $look->();
    return $found;
}

# A function without jobs and workers is not there any more.
sub server_status {
    return client()->get_job_server_status->{$address}{$name}
        // {queued => 0, running => 0, capable => 0};
}

sub test {
    my ($title, $code) = @_;
    push @tests, [$title, $code];
    return;
}

# Over TLS, a set of tasks of this client reads one packet of a record and waits for the next record
# with the others in its hands, whatever the server is: where several packets can come at once, the
# test is left out then.
my $skipped = 0;

sub several {
    return $ENV{TLS_CA} ? $skipped++ : test(@_);
}

my $upper = sub { uc shift->arg };

test 'a foreground job is worked and its result comes back', sub {
    worker({$name => $upper});
    is ${client()->do_task($name, 'work')}, 'WORK';
};

test 'a job that is there before its worker is done when the worker comes', sub {
    my $tasks = client()->new_task_set;
    my $result;
    ok $tasks->add_task($name, 'work', {on_complete => sub { $result = ${$_[0]} }});
    worker({$name => $upper});
    $tasks->wait;
    is $result, 'WORK';
};

test '64 megabytes of any bytes come back whole', sub {
    my $bytes = join('', map { chr } 0 .. 255) x (4 * 65536);
    worker({$name => sub { shift->argref }});
    ok ${client()->do_task($name, \$bytes)} eq $bytes;
};

test 'a worker that is asleep wakes up for each job', sub {
    worker({$name => $upper});
    my $client = client();
    is ${$client->do_task($name, "work $_")}, "WORK $_" for 1 .. 50;
};

test 'high goes before normal and normal before low, each in the order of submission', sub {
    my ($say, $hear) = tape();
    my $client = client();
    for my $priority (qw(low normal high)) {
        ok $client->dispatch_background($name, "$priority $_", {priority => $priority}) for 1, 2;
    }
    worker({$name => sub { $say->(shift->arg); 'done' }});
    is $hear->(), $_ for 'high 1', 'high 2', 'normal 1', 'normal 2', 'low 1', 'low 2';
};

test 'a background job is known, then running with its progress, then unknown', sub {
    my ($told,     $hear) = tape();
    my ($let_go, $waiting) = tape();
    my $client = client();
    my $handle = $client->dispatch_background($name, 'work');
    my $status = $client->get_status($handle);
    is_deeply [$status->known, $status->running], [1, 0];
    worker({$name => sub { shift->set_status(3, 4); $told->('begun'); $waiting->() }});
    is $hear->(), 'begun';
    until_true(sub { ($client->get_status($handle)->percent // 0) == 0.75 });
    is $client->get_status($handle)->running, 1;
    $let_go->('go on');
    until_true(sub { !$client->get_status($handle)->known });
    pass;
};

several 'progress, data and a warning reach the client in order', sub {
    my @events;
    worker({
        $name => sub {
            my ($job, $worker) = @_;
            $job->set_status(1, 2);
            $worker->send_work_data($job, 'part');
            $worker->send_work_warning($job, 'careful');
            return 'all';
        }
    });
    client()->do_task($name, 'work', {
        on_status   => sub { push @events, "$_[0]/$_[1]" },
        on_data     => sub { push @events, ${$_[0]} },
        on_warning  => sub { push @events, ${$_[0]} },
        on_complete => sub { push @events, ${$_[0]} },
    });
    is_deeply \@events, ['1/2', 'part', 'careful', 'all'];
};

test 'a failed job is told as failed', sub {
    my $failures = 0;
    worker({$name => sub { return }});
    is client()->do_task($name, 'work', {on_fail => sub { $failures++ }}), undef;
    is $failures, 1;
};

test 'a failed job is submitted again as often as its client wants', sub {
    my @retries;
    my $count = 0;
    worker({$name => sub { ++$count > 2 ? "attempt $count" : undef }});
    my $result = client()->do_task($name, 'work',
        {retry_count => 5, on_retry => sub { push @retries, shift }});
    is $$result, 'attempt 3';
    is_deeply \@retries, [1, 2];
};

test 'an exception reaches a client that asked for exceptions', sub {
    my $explanation;
    worker({$name => sub { $_[1]->send_work_exception($_[0], 'no file') }});
    client(exceptions => 1)
        ->do_task($name, 'work', {on_exception => sub { $explanation = shift }});
    like $explanation, qr/no file/;
};

test 'a task that dies is an exception', sub {
    my $explanation;
    worker({$name => sub { die "out of paper\n" }});
    client(exceptions => 1)
        ->do_task($name, 'work', {on_exception => sub { $explanation = shift }});
    like $explanation, qr/out of paper/;
};

# gearmand's WORK_FAIL has one NUL too many here, and this client does not know the handle then.
test 'to a client that did not ask for exceptions, one is a failure', sub {
    my $failures = 0;
    worker({$name => sub { $_[1]->send_work_exception($_[0], 'no file') }});
    client()->do_task($name, 'work', {on_fail => sub { $failures++ }});
    is $failures, 1;
};

several 'tasks of a set with the same uniq are one job, and all of them complete', sub {
    my $count = 0;
    my @results;
    my $tasks = client()->new_task_set;
    my @handles = map {
        $tasks->add_task($name, "work $_",
            {uniq => 'the same', on_complete => sub { push @results, ${$_[0]} }})
    } 1 .. 5;
    is $_, $handles[0] for @handles;
    worker({$name => sub { shift->arg . ', job ' . ++$count }});
    $tasks->wait;
    is_deeply \@results, [('work 1, job 1') x 5];
};

several 'tasks with the same work and the uniq - are one job, and others are not', sub {
    my ($count, @results) = 0;
    my $tasks = client()->new_task_set;
    for my $work (qw(this that this)) {
        $tasks->add_task($name, $work,
            {uniq => '-', on_complete => sub { push @results, ${$_[0]} }});
    }
    worker({$name => sub { shift->arg . ' ' . ++$count }});
    $tasks->wait;
    is_deeply [sort @results], ['that 2', 'this 1', 'this 1'];
};

test 'two clients with the same uniq get the result of one job, and its failure', sub {
    for my $outcome ('done', undef) {
        my @sets = map { client()->new_task_set } 1, 2;
        my @told;
        for my $tasks (@sets) {
            $tasks->add_task($name, 'work', {
                uniq        => 'the same',
                on_complete => sub { push @told, ${$_[0]} },
                on_fail     => sub { push @told, undef },
            });
        }
        my $worker = worker({$name => sub { $outcome }});
        $_->wait for @sets;
        is_deeply \@told, [$outcome, $outcome];
        stop($worker);
    }
};

several 'a client that joins a running job is told of its progress', sub {
    my ($told,     $hear) = tape();
    my ($let_go, $waiting) = tape();
    my @progress;
    my @sets = map { client()->new_task_set } 1, 2;
    $sets[0]->add_task($name, 'work', {uniq => 'the same'});
    worker({
        $name => sub {
            my $job = shift;
            $job->set_status(1, 3);
            $told->('begun');
            $waiting->();
            $job->set_status(2, 3);
            return 'done';
        }
    });
    is $hear->(), 'begun';
    $sets[1]->add_task($name, 'work',
        {uniq => 'the same', on_status => sub { push @progress, "$_[0]/$_[1]" }});
    $let_go->('go on');
    $_->wait for @sets;
    is $progress[-1], '2/3';
};

test 'a task without a worker fails when its time is over', sub {
    my $reason;
    client()->do_task($name, 'work', {timeout => 0.2, on_fail => sub { $reason = shift }});
    like $reason, qr/timeout/;
};

test 'a worker with several functions does the jobs of each', sub {
    worker({$name => sub { 'first' }, "$name-2" => sub { 'second' }});
    my $client = client();
    is ${$client->do_task($name, 'work')}, 'first';
    is ${$client->do_task("$name-2", 'work')}, 'second';
};

test 'a function that a worker took back goes to another worker', sub {
    my ($told, $hear) = tape();
    worker({
        $name    => sub { 'old' },
        "$name-" => sub { pop->unregister_function($name); 'taken back' },
    });
    my $client = client();
    is ${$client->do_task($name,    'work')}, 'old';
    is ${$client->do_task("$name-", 'work')}, 'taken back';
    until_true(sub { server_status()->{capable} == 0 });
    worker({$name => sub { 'new' }});
    is ${$client->do_task($name, 'work')}, 'new';
};

test 'the job of a worker that dies is given to another', sub {
    my $tasks = client()->new_task_set;
    my $result;
    $tasks->add_task($name, 'work', {on_complete => sub { $result = ${$_[0]} }});
    my $doomed = worker({$name => sub { kill KILL => $$; sleep }});
    waitpid $doomed, 0;
    worker({$name => $upper});
    $tasks->wait;
    is $result, 'WORK';
};

test 'a job that is held longer than the function allows is given to another', sub {
    my ($told, $hear) = tape();
    my $tasks = client()->new_task_set;
    my $result;
    $tasks->add_task($name, 'work', {on_complete => sub { $result = ${$_[0]} }});
    worker({$name => [1000, sub { $told->('begun'); sleep 3600 }]});
    is $hear->(), 'begun';
    worker({$name => $upper});
    $tasks->wait;
    is $result, 'WORK';
};

several 'a set of two hundred tasks is done by three workers', sub {
    my %results;
    worker({$name => $upper}) for 1 .. 3;
    my $tasks = client()->new_task_set;
    for my $i (1 .. 200) {
        $tasks->add_task($name, "work $i", {on_complete => sub { $results{$i} = ${$_[0]} }});
    }
    $tasks->wait;
    is_deeply \%results, {map { $_ => "WORK $_" } 1 .. 200};
};

test 'a prefix keeps the functions of one application from those of another', sub {
    worker({$name => sub { 'ours' }},   prefix => 'ours');
    worker({$name => sub { 'theirs' }}, prefix => 'theirs');
    is ${client(prefix => $_)->do_task($name, 'work')}, $_ for qw(ours theirs);
};

test 'the status of the server counts jobs and workers', sub {
    my ($let_go, $waiting) = tape();
    my $client = client();
    $client->dispatch_background($name, $_) for 1 .. 3;
    is_deeply server_status(), {queued => 3, running => 0, capable => 0};
    worker({$name => sub { $waiting->() }});
    until_true(sub { server_status()->{running} == 1 });
    is_deeply server_status(), {queued => 3, running => 1, capable => 1};
    $let_go->('go on') for 1 .. 3;
    until_true(sub { server_status()->{queued} == 0 });
    pass;
};

my $failed = 0;
for my $i (0 .. $#tests) {
    my ($title, $code) = @{$tests[$i]};
    $name = "perl-$$-$i";
    local $SIG{ALRM} = sub { die "it takes for ever\n" };
    alarm 120;
    my $good = subtest $title, sub {
        eval { $code->(); 1 } or fail $@;
        done_testing;
    };
    alarm 0;
    $failed++ unless $good;
    stop($_) for splice @workers;
}
done_testing;

# Read by tests/tools/count-tests.awk.
printf "# pass %d\n# fail %d\n# skipped %d\n", @tests - $failed, $failed, $skipped;
