<?php
// SPDX-License-Identifier: MIT
// PHP's gearman extension, as Debian packages it. Each test has a function of its own, and its
// workers are processes; GEARMAN_ADDRESS (host:port) says where the server is.

declare(strict_types=1);

set_error_handler(function (int $level, string $message, string $file, int $line) {
    if (error_reporting() & $level) {
        throw new ErrorException($message, 0, $level, $file, $line);
    }

    return true;
});

const FOR_EVER = 120; // seconds: only what hangs takes so long

[$host, $port] = explode(':', getenv('GEARMAN_ADDRESS'));
$workers = [];

function client(bool $exceptions = false): GearmanClient
{
    global $host, $port;
    $client = new GearmanClient();
    $client->addServer($host, (int) $port, $exceptions);
    $client->setTimeout(FOR_EVER * 1000);

    return $client;
}

// Starts a process that does the jobs of the functions: name => code, or name => [ms, code].
// The code is called with the job and the worker.
function worker(array $functions, int $options = 0): int
{
    global $workers;
    $pid = pcntl_fork();
    if ($pid === 0) {
        work($functions, $options);
        posix_kill(getmypid(), SIGKILL);
    }
    $workers[] = $pid;

    return $pid;
}

function work(array $functions, int $options): void
{
    global $host, $port;
    $worker = new GearmanWorker();
    $worker->addOptions($options);
    $worker->addServer($host, (int) $port);
    foreach ($functions as $name => $code) {
        [$ms, $code] = is_array($code) ? $code : [0, $code];
        $worker->addFunction($name, fn ($job) => $code($job, $worker), null, $ms);
    }
    do {
        @$worker->work();
    } while ($worker->returnCode() !== GEARMAN_LOST_CONNECTION);
}

// A worker within the test, which does not wait for jobs.
function busyWorker(): GearmanWorker
{
    global $host, $port;
    $worker = new GearmanWorker();
    $worker->addOptions(GEARMAN_WORKER_NON_BLOCKING);
    $worker->addServer($host, (int) $port);

    return $worker;
}

function stop(int $pid): void
{
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
}

// The reply to one line of administration, up to its end.
function admin(string $line, string $end = "\n"): string
{
    global $host, $port;
    $socket = fsockopen($host, (int) $port);
    fwrite($socket, "$line\n");
    for ($said = ''; !str_ends_with($said, $end);) {
        $said .= fread($socket, 65536);
    }

    return $said;
}

// The total, running and worker counts of a function. Without jobs and workers it is not there any
// more.
function counts(string $name): array
{
    $found = preg_match("/^$name\t(\d+)\t(\d+)\t(\d+)$/m", admin('status', ".\n"), $numbers);

    return $found ? array_map('intval', array_slice($numbers, 1)) : [0, 0, 0];
}

function untilTrue(callable $look): void
{
    while (!$look());
}

// A pair of functions: one says a line, the other hears it in another process.
function tape(): array
{
    [$in, $out] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);

    return [fn ($line) => fwrite($in, "$line\n"), fn () => rtrim(fgets($out), "\n")];
}

function same($expected, $actual): void
{
    if ($expected !== $actual) {
        throw new Exception('expected ' . json_encode($expected) . ', got ' . json_encode($actual));
    }
}

$upper = fn ($job) => strtoupper($job->workload());

$tests = [
    'a job of each priority is worked and its result comes back' => function ($name) use ($upper) {
        worker([$name => $upper]);
        $client = client();
        same(['NORMAL', 'HIGH', 'LOW'], [
            $client->doNormal($name, 'normal'), $client->doHigh($name, 'high'),
            $client->doLow($name, 'low'),
        ]);
        same(GEARMAN_SUCCESS, $client->returnCode());
    },
    'a megabyte of any bytes comes back whole' => function ($name) {
        worker([$name => fn ($job) => $job->workload()]);
        $bytes = str_repeat(implode('', array_map('chr', range(0, 255))), 4096);
        same(true, client()->doNormal($name, $bytes) === $bytes);
    },
    'an empty result is a result' => function ($name) {
        worker([$name => fn ($job) => '']);
        $client = client();
        same('', (string) $client->doNormal($name, 'work'));
        same(GEARMAN_SUCCESS, $client->returnCode());
    },
    'a client does one job after the other over its connection' => function ($name) use ($upper) {
        worker([$name => $upper]);
        $client = client();
        foreach (range(1, 50) as $i) {
            same("WORK $i", $client->doNormal($name, "work $i"));
        }
    },
    'high goes before normal and normal before low' => function ($name) {
        [$say, $hear] = tape();
        $client = client();
        $client->doLowBackground($name, 'low');
        $client->doBackground($name, 'normal');
        $client->doHighBackground($name, 'high');
        worker([$name => fn ($job) => $say($job->workload())]);
        same(['high', 'normal', 'low'], [$hear(), $hear(), $hear()]);
    },
    'a background job is known, then running with its progress, then unknown' => function ($name) {
        [$told, $hear] = tape();
        [$letGo, $waiting] = tape();
        $client = client();
        $handle = $client->doBackground($name, 'work', "$name-1");
        same([true, false, 0, 0], $client->jobStatus($handle));
        worker([$name => function ($job) use ($told, $waiting) {
            $job->sendStatus(3, 4);
            $told('begun');

            return $waiting();
        }]);
        same('begun', $hear());
        untilTrue(fn () => $client->jobStatus($handle) === [true, true, 3, 4]);
        same([true, true, 3, 4], $client->jobStatusByUniqueKey("$name-1"));
        $letGo('go on');
        untilTrue(fn () => $client->jobStatus($handle)[0] === false);
        same(false, $client->jobStatusByUniqueKey("$name-1")[0]);
    },
    'tasks are done in parallel, and tell what happens to them' => function ($name) {
        worker([$name => function ($job) {
            $job->sendStatus(1, 2);
            $job->sendData('part');
            $job->sendWarning('careful');

            return 'all of ' . $job->workload();
        }]);
        $client = client();
        $events = [];
        $note = fn ($task, $text) => $events[$task->unique()][] = $text;
        $client->setCreatedCallback(function ($task) use (&$events) {
            $events[$task->unique()][] = 'created';
        });
        $client->setStatusCallback(function ($task) use (&$events) {
            $events[$task->unique()][] = $task->taskNumerator() . '/' . $task->taskDenominator();
        });
        foreach (['setDataCallback', 'setWarningCallback', 'setCompleteCallback'] as $set) {
            $client->$set(function ($task) use (&$events) {
                $events[$task->unique()][] = $task->data();
            });
        }
        foreach (['a', 'b', 'c'] as $unique) {
            $client->addTask($name, $unique, null, $unique);
        }
        same(true, $client->runTasks());
        foreach (['a', 'b', 'c'] as $unique) {
            same(['created', '1/2', 'part', 'careful', "all of $unique"], $events[$unique]);
        }
    },
    'two hundred tasks of all kinds are done by two workers' => function ($name) use ($upper) {
        worker([$name => $upper]);
        worker([$name => $upper]);
        $client = client();
        $results = [];
        $client->setCompleteCallback(function ($task) use (&$results) {
            $results[] = $task->data();
        });
        foreach (range(1, 200) as $i) {
            $add = ['addTask', 'addTaskHigh', 'addTaskLow'][$i % 3];
            $client->$add($name, "work $i");
        }
        foreach (['addTaskBackground', 'addTaskHighBackground', 'addTaskLowBackground'] as $add) {
            $client->$add($name, 'background');
        }
        same(true, $client->runTasks());
        sort($results, SORT_NATURAL);
        same(array_map(fn ($i) => "WORK $i", range(1, 200)), $results);
        untilTrue(fn () => counts($name)[0] === 0);
    },
    'a failed job is told as failed' => function ($name) {
        worker([$name => fn ($job) => $job->sendFail()]);
        $client = client();
        same('', (string) @$client->doNormal($name, 'work'));
        same(GEARMAN_WORK_FAIL, $client->returnCode());
    },
    'a job whose function returns a failure is failed' => function ($name) {
        worker([$name => function ($job) {
            $job->setReturn(GEARMAN_WORK_FAIL);

            return '';
        }]);
        $client = client();
        $failed = 0;
        $client->setFailCallback(function ($task) use (&$failed) {
            $failed++;
        });
        $client->addTask($name, 'work');
        @$client->runTasks();
        same(1, $failed);
    },
    'an exception reaches a client that asked for exceptions' => function ($name) {
        worker([$name => fn ($job) => $job->sendException('no such file')]);
        $client = client(exceptions: true);
        $explanation = null;
        $client->setExceptionCallback(function ($task) use (&$explanation) {
            $explanation = $task->data();

            return GEARMAN_WORK_EXCEPTION;
        });
        $client->addTask($name, 'work');
        @$client->runTasks();
        same('no such file', $explanation);
    },
    // The handle in gearmand's WORK_FAIL has one NUL too many here, and this client waits on.
    'to a client that did not ask for exceptions, one is a failure' => function ($name) {
        worker([$name => fn ($job) => $job->sendException('no such file')]);
        $client = client();
        @$client->doNormal($name, 'work');
        same(GEARMAN_WORK_FAIL, $client->returnCode());
    },
    'tasks with the same unique are one job, whose result all of them get' => function ($name) {
        $client = client();
        $created = [];
        $results = [];
        $client->setCreatedCallback(function ($task) use ($name, &$created) {
            $created[] = $task->jobHandle();
            if (count($created) === 3) {
                $count = 0;
                worker([$name => function ($job) use (&$count) {
                    return $job->unique() . ' ' . ++$count;
                }], GEARMAN_WORKER_GRAB_UNIQ);
            }
        });
        $client->setCompleteCallback(function ($task) use (&$results) {
            $results[] = $task->data();
        });
        foreach (range(1, 3) as $i) {
            $client->addTask($name, "work $i", null, 'the same');
        }
        same(true, $client->runTasks());
        same(1, count(array_unique($created)));
        same(array_fill(0, 3, 'the same 1'), $results);
    },
    'a full function refuses a job' => function ($name) {
        $client = client();
        $client->doBackground($name, 'fits');
        same("OK\r\n", admin("maxqueue $name 1"));
        @$client->doBackground($name, 'does not', 'another');
        same(GEARMAN_QUEUE_ERROR, $client->returnCode());
        same(1, counts($name)[0]);
    },
    'a worker with several functions does the jobs of each' => function ($name) {
        worker([$name => fn () => 'first', "$name-2" => fn () => 'second']);
        $client = client();
        same('first', $client->doNormal($name, 'work'));
        same('second', $client->doNormal("$name-2", 'work'));
    },
    'a function that a worker took back goes to another worker' => function ($name) {
        $worker = busyWorker();
        $worker->addFunction($name, fn () => 'old');
        untilTrue(fn () => !@$worker->work() && counts($name) === [0, 0, 1]);
        same(true, $worker->unregister($name));
        $worker->addFunction("$name-2", fn () => 'of another function');
        untilTrue(fn () => !@$worker->work() && counts($name) === [0, 0, 0]);
        worker([$name => fn () => 'new']);
        same('new', client()->doNormal($name, 'work'));
    },
    'a worker asks for jobs without waiting' => function ($name) {
        $worker = busyWorker();
        $done = [];
        $worker->addFunction($name, function ($job) use (&$done) {
            $done[] = $job->workload();
        });
        untilTrue(fn () => !@$worker->work() && $worker->returnCode() === GEARMAN_NO_JOBS);
        client()->doBackground($name, 'work');
        untilTrue(function () use ($worker, &$done) {
            @$worker->work();

            return $done === ['work'];
        });
    },
    'a worker that gets no job gives up when its time is over' => function ($name) {
        global $host, $port;
        $worker = new GearmanWorker();
        $worker->addServer($host, (int) $port);
        $worker->addFunction($name, fn () => null);
        $worker->setTimeout(100);
        @$worker->work();
        same(GEARMAN_TIMEOUT, $worker->returnCode());
    },
    'a client gives up when its time is over' => function ($name) {
        $client = client();
        $client->setTimeout(100);
        @$client->doNormal($name, 'work');
        same(GEARMAN_TIMEOUT, $client->returnCode());
    },
    'the job of a worker that dies is given to another' => function ($name) use ($upper) {
        $doomed = worker([$name => fn () => posix_kill(getmypid(), SIGKILL)]);
        $client = client();
        $handle = $client->doBackground($name, 'work');
        pcntl_waitpid($doomed, $status);
        [$say, $hear] = tape();
        worker([$name => fn ($job) => $say($job->handle())]);
        same($handle, $hear());
    },
    'a job that is held longer than the function allows is given to another' => function ($name) {
        [$say, $hear] = tape();
        $client = client();
        $client->doBackground($name, 'work');
        worker([$name => [1000, function () use ($say) {
            $say('begun');
            sleep(3600);
        }]]);
        same('begun', $hear());
        worker([$name => fn ($job) => $say($job->workload())]);
        same('work', $hear());
    },
    'a worker is listed by its name' => function ($name) {
        $worker = busyWorker();
        $worker->setId("id-of-$name");
        $worker->addFunction($name, fn () => null);
        untilTrue(function () use ($worker, $name) {
            @$worker->work();

            return (bool) preg_match("/ id-of-$name : $name$/m", admin('workers', ".\n"));
        });
    },
    'what a client and a worker echo comes back' => function () {
        global $host, $port;
        $worker = new GearmanWorker();
        $worker->addServer($host, (int) $port);
        same([true, true], [client()->ping('are you there?'), $worker->ping('are you there?')]);
    },
];

$failed = 0;
pcntl_async_signals(true);
pcntl_signal(SIGALRM, fn () => throw new Exception('it takes for ever'));
foreach ($tests as $title => $test) {
    try {
        pcntl_alarm(FOR_EVER);
        $test(sprintf('php-%d-%s', getmypid(), substr(md5($title), 0, 8)));
        echo "ok $title\n";
    } catch (Throwable $problem) {
        $failed++;
        echo "not ok $title\n$problem\n";
    }
    array_map('stop', $workers);
    $workers = [];
}
// Read by tests/tools/count-tests.awk.
printf("# pass %d\n# fail %d\n", count($tests) - $failed, $failed);
exit($failed ? 1 : 0);
