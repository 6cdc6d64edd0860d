<?php
// SPDX-License-Identifier: MIT
// Pheanstalk, a beanstalk client for PHP, as Debian packages it. Each test has a tube of its own;
// BEANSTALK_ADDRESS (host:port) says where the server is. If TLS_CA is set, it speaks TLS, by a
// stream of PHP's, and that is the file of who vouches for it.

declare(strict_types=1);

require 'Pheanstalk/autoload.php';

use Pheanstalk\Contract\SocketFactoryInterface;
use Pheanstalk\Contract\SocketInterface;
use Pheanstalk\Exception\DeadlineSoonException;
use Pheanstalk\Exception\JobTooBigException;
use Pheanstalk\Exception\ServerException;
use Pheanstalk\Job;
use Pheanstalk\Pheanstalk;
use Pheanstalk\Socket\FileSocket;

set_error_handler(function (int $level, string $message, string $file, int $line) {
    throw new ErrorException($message, 0, $level, $file, $line);
});

final class TlsSocket extends FileSocket
{
    public function __construct()
    {
        $context = stream_context_create(['ssl' => ['cafile' => getenv('TLS_CA')]]);
        $address = 'tls://' . getenv('BEANSTALK_ADDRESS');
        $this->socket = stream_socket_client($address, context: $context);
    }
}

final class TlsSocketFactory implements SocketFactoryInterface
{
    public function create(): SocketInterface
    {
        return new TlsSocket();
    }
}

function createClient(): Pheanstalk
{
    if (getenv('TLS_CA')) {
        return Pheanstalk::createWithFactory(new TlsSocketFactory());
    }
    [$host, $port] = explode(':', getenv('BEANSTALK_ADDRESS'));

    return Pheanstalk::create($host, (int) $port);
}

function connect(string $tube): Pheanstalk
{
    return createClient()->useTube($tube)->watchOnly($tube);
}

function same($expected, $actual): void
{
    if ($expected !== $actual) {
        throw new Exception('expected ' . json_encode($expected) . ', got ' . json_encode($actual));
    }
}

function fails(string $class, callable $attempt): void
{
    try {
        $attempt();
    } catch (Exception $exception) {
        same(true, $exception instanceof $class);

        return;
    }
    throw new Exception("expected $class");
}

function putAndReserve(Pheanstalk $client, int $ttr = 60): Job
{
    $id = $client->put('work', 5, 0, $ttr)->getId();
    $job = $client->reserve();
    same($id, $job->getId());

    return $job;
}

function stateOf(Pheanstalk $client, Job $job): string
{
    return $client->statsJob($job)['state'];
}

$tests = [
    'a job that is put is reserved with its id and body' => function ($client) {
        $put = $client->put("a body with\r\na line end");
        $job = $client->reserve();
        same([$put->getId(), "a body with\r\na line end"], [$job->getId(), $job->getData()]);
    },
    'a body of any bytes comes back whole' => function ($client) {
        $body = str_repeat(implode('', array_map('chr', range(0, 255))), 200);
        $client->put($body);
        same($body, $client->reserve()->getData());
    },
    'the lowest priority number is reserved first, then the oldest job' => function ($client) {
        foreach (['c' => 20, 'a' => 10, 'b' => 10] as $body => $priority) {
            $client->put($body, $priority);
        }
        foreach (['a', 'b', 'c'] as $body) {
            same($body, $client->reserve()->getData());
        }
    },
    'reserveWithTimeout gets a job, or nothing' => function ($client) {
        same(null, $client->reserveWithTimeout(0));
        same(null, $client->reserveWithTimeout(1));
        $id = $client->put('work')->getId();
        same($id, $client->reserveWithTimeout(30)->getId());
    },
    'a deleted job is gone' => function ($client) {
        $job = putAndReserve($client);
        $client->delete($job);
        fails(ServerException::class, fn () => $client->delete($job));
        fails(ServerException::class, fn () => $client->peek($job));
    },
    'a released job is ready again with its new priority' => function ($client) {
        $job = putAndReserve($client);
        $client->release($job, 7);
        $stats = $client->statsJob($job);
        same(['ready', '7', '1'], [$stats['state'], $stats['pri'], $stats['releases']]);
        same($job->getId(), $client->reserve()->getId());
    },
    'a job released with a delay comes back after it' => function ($client) {
        $job = putAndReserve($client);
        $client->release($job, 5, 3);
        same('delayed', stateOf($client, $job));
        same($job->getId(), $client->reserveWithTimeout(30)->getId());
    },
    'release by a client that does not hold the job fails' => function ($client, $tube) {
        $job = putAndReserve($client);
        fails(ServerException::class, fn () => connect($tube)->release($job));
    },
    'a buried job waits for a kick' => function ($client) {
        $job = putAndReserve($client);
        $client->bury($job);
        same('buried', stateOf($client, $job));
        same(null, $client->reserveWithTimeout(0));
        same(1, $client->kick(10));
        same($job->getId(), $client->reserve()->getId());
    },
    'a job is kicked alone' => function ($client) {
        [$first, $second] = [putAndReserve($client), putAndReserve($client)];
        $client->bury($first);
        $client->bury($second);
        $client->kickJob($second);
        same($second->getId(), $client->reserve()->getId());
        same($first->getId(), $client->peekBuried()->getId());
    },
    'a touched job has its time to run again' => function ($client) {
        $job = putAndReserve($client);
        while ($client->statsJob($job)['time-left'] > 57);
        $client->touch($job);
        same(true, $client->statsJob($job)['time-left'] > 57);
    },
    'a job is given to another when its time to run is over' => function ($client, $tube) {
        $job = putAndReserve($client, 3);
        same($job->getId(), connect($tube)->reserveWithTimeout(30)->getId());
        fails(ServerException::class, fn () => $client->touch($job));
    },
    'a reserve close to the end of a lease says so' => function ($client) {
        putAndReserve($client, 3);
        fails(DeadlineSoonException::class, fn () => $client->reserve());
        fails(DeadlineSoonException::class, fn () => $client->reserveWithTimeout(0));
    },
    'a paused tube hands out nothing until it is resumed' => function ($client, $tube) {
        $id = $client->put('work')->getId();
        $client->pauseTube($tube, 3600);
        same('3600', $client->statsTube($tube)['pause']);
        same(null, $client->reserveWithTimeout(0));
        $client->resumeTube($tube);
        same($id, $client->reserve()->getId());
    },
    'the peeks show a job of each state and leave it there' => function ($client) {
        $client->bury(putAndReserve($client));
        $client->put('work');
        $client->put('work', 5, 3600);
        same('ready', stateOf($client, $client->peekReady()));
        same('delayed', stateOf($client, $client->peekDelayed()));
        same('buried', stateOf($client, $client->peekBuried()));
        same('work', $client->peek($client->peekBuried())->getData());
    },
    'the peeks of an empty tube find nothing' => function ($client) {
        same(null, $client->peekReady());
        same(null, $client->peekDelayed());
        same(null, $client->peekBuried());
    },
    'watched, used and all tubes are listed' => function ($client, $tube) {
        $client->watch("$tube-other");
        $watched = $client->listTubesWatched(true);
        sort($watched);
        same([$tube, "$tube-other"], $watched);
        $client->ignore("$tube-other");
        fails(ServerException::class, fn () => $client->ignore($tube));
        same($tube, $client->listTubeUsed(true));
        same(true, in_array($tube, $client->listTubes(), true));
    },
    'jobs of a client that leaves are ready again' => function ($client, $tube) {
        $leaving = connect($tube);
        $id = putAndReserve($leaving)->getId();
        unset($leaving);
        gc_collect_cycles();
        same($id, $client->reserveWithTimeout(30)->getId());
    },
    'a job that is lost twice has been retried, and is a dead letter then' => function ($c, $tube) {
        $retried = "$tube.retried";
        $client = connect($retried);
        $job = $client->put('work');
        foreach (['delayed', 'ready'] as $state) {
            $leaving = connect($retried);
            same($job->getId(), $leaving->reserveWithTimeout(30)->getId());
            unset($leaving);
            gc_collect_cycles();
            while (stateOf($client, $job) === 'reserved');
            same($state, stateOf($client, $job));
        }
        $dead = connect("$retried.dead");
        same($job->getId(), $dead->peekReady()->getId());
        $stats = $dead->statsJob($job);
        same(["$retried.dead", $retried, '2'], [
            trim($stats['tube'], '"'), trim($stats['dead-from'], '"'), $stats['dead-attempts'],
        ]);
        same(null, $client->reserveWithTimeout(0));
    },
    'stats tell of the server, the tube and the job' => function ($client, $tube) {
        $earlier = $client->stats();
        $job = $client->put('work', 9, 60, 30);
        same((int) $earlier['cmd-put'] + 1, (int) $client->stats()['cmd-put']);
        same('1', $client->statsTube($tube)['current-jobs-delayed']);
        $stats = $client->statsJob($job);
        same(['9', '60', '30'], [$stats['pri'], $stats['delay'], $stats['ttr']]);
        same($tube, trim($stats['tube'], '"'));
    },
    'a job that is too big is refused, and the connection lives on' => function ($client) {
        fails(JobTooBigException::class, fn () => $client->put(str_repeat('x', 70000)));
        putAndReserve($client);
    },
];

$failed = 0;
foreach ($tests as $name => $test) {
    $tube = sprintf('pheanstalk-%d-%s', getmypid(), md5($name));
    try {
        $test(connect($tube), $tube);
        echo "ok $name\n";
    } catch (Throwable $problem) {
        $failed++;
        echo "not ok $name\n$problem\n";
    }
}
// Read by tests/tools/count-tests.awk.
printf("# pass %d\n# fail %d\n", count($tests) - $failed, $failed);
exit($failed ? 1 : 0);
