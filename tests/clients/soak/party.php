<?php
// SPDX-License-Identifier: MIT
// A party of a soak, in PHP: party.php ROLE NUMBER SEED STOP_FILE. What it writes, book.py tells.

declare(strict_types=1);

require 'Pheanstalk/autoload.php';

use Pheanstalk\Pheanstalk;

const LONG = 120; // seconds: longer than anybody holds a job

[, $role, $number, $seed, $stopFile] = $argv;
mt_srand((int) $seed);

// One write for each line: what is killed leaves no half of one.
function note(string ...$words): void
{
    fwrite(STDOUT, implode(' ', $words) . "\n");
}

function address(string $protocol): array
{
    [$host, $port] = explode(':', getenv("{$protocol}_ADDRESS"));

    return [$host, (int) $port];
}

function chance(float $of): bool
{
    return mt_rand() / mt_getrandmax() < $of;
}

function pause(int $most): void
{
    usleep(mt_rand(0, $most));
}

function anyQueue(): string
{
    return 'soak-' . mt_rand(0, 2);
}

function newJob(string $ending): string
{
    global $number;
    static $count = 0;

    return "$number-" . ++$count . $ending;
}

function mustBe(bool $true): void
{
    if (!$true) {
        throw new Exception('refused');
    }
}

function beanstalk(): Pheanstalk
{
    $client = Pheanstalk::create(...address('BEANSTALK'));
    foreach ([0, 1, 2] as $i) {
        $client->watch("soak-$i");
    }

    return $client->ignore('default');
}

function putWithBeanstalk(string $stopFile): void
{
    $client = beanstalk();
    while (!file_exists($stopFile)) {
        $job = newJob('-bean');
        note('put', $job);
        $client->useTube(anyQueue())->put($job, mt_rand(0, 100000), chance(0.05) ? 1 : 0, LONG);
        note('accepted', $job);
        pause(20000);
    }
}

function workWithBeanstalk(): void
{
    $client = beanstalk();
    for (;;) {
        $reserved = $client->reserve();
        $job = $reserved->getData();
        note('took', $job);
        pause(10000);
        if (chance(0.05)) {
            note('released', $job);
            $client->release($reserved, mt_rand(0, 100000), mt_rand(0, 1));
            continue;
        }
        note('finishing', $job);
        str_ends_with($job, '-fail') ? $client->bury($reserved) : $client->delete($reserved);
    }
}

function gearmanClient(): GearmanClient
{
    $client = new GearmanClient();
    $client->addServer(...address('GEARMAN'));
    $client->setCompleteCallback(fn ($task) => note('answer', $task->context(), $task->data()));

    return $client;
}

function submitInBackground(GearmanClient $client): void
{
    $job = newJob('-bg');
    note('put', $job);
    $do = ['doBackground', 'doHighBackground', 'doLowBackground'][mt_rand(0, 2)];
    $client->$do(anyQueue(), $job);
    mustBe($client->returnCode() === GEARMAN_SUCCESS);
    note('accepted', $job);
}

function callOne(GearmanClient $client): void
{
    $job = newJob(chance(0.1) ? '-fail' : '-fg');
    note('call', $job);
    $result = @$client->doNormal(anyQueue(), $job);
    $failed = $client->returnCode() === GEARMAN_WORK_FAIL;
    mustBe($failed || $client->returnCode() === GEARMAN_SUCCESS);
    note('answer', $job, $failed ? 'failed' : (string) $result);
}

function submitWithGearman(string $stopFile): void
{
    $client = gearmanClient();
    while (!file_exists($stopFile)) {
        chance(0.5) ? submitInBackground($client) : callOne($client);
        pause(20000);
    }
}

function workWithGearman(): void
{
    $worker = new GearmanWorker();
    $worker->addServer(...address('GEARMAN'));
    foreach ([0, 1, 2] as $i) {
        $worker->addFunction("soak-$i", function ($given) {
            $job = $given->workload();
            note('took', $job);
            pause(10000);
            note('finishing', $job);
            if (str_ends_with($job, '-fail')) {
                $given->sendFail();
            } else {
                return "done $job";
            }
        });
    }
    for (;;) {
        @$worker->work();
    }
}

match ($role) {
    'bean-producer' => putWithBeanstalk($stopFile),
    'bean-worker' => workWithBeanstalk(),
    'gearman-client' => submitWithGearman($stopFile),
    'gearman-worker' => workWithGearman(),
};
