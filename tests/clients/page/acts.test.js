// SPDX-License-Identifier: MIT
'use strict'

// The actions of the page: each shows how much it will change before it does so.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, afterEach, before, test } = require('node:test')
const bed = require('./bed.js')

const { skip } = bed

before(() => skip || bed.start())
after(() => skip || bed.stop())
afterEach(() => skip || bed.leave())

const press = (page, name) => page.getByRole('button', { name, exact: true }).click()
const dialog = (page, name) => page.getByRole('dialog', { name })
const inDialog = (page, name) =>
  page.getByRole('dialog').last().getByRole('button', { name, exact: true })
const counts = async queue => (await bed.api('GET', `queues/${queue}`)).jobs
const job = id => bed.api('GET', `jobs/${id}`)

// Fills in the form of an operation, confirms the number of changes, and waits for the end.
async function operate(page, { fill = async () => {}, says, agree, done }) {
  await fill(page.getByRole('dialog').last())
  await inDialog(page, 'Count').click()
  await page.getByRole('dialog').last().getByText(says).waitFor()
  await inDialog(page, agree).click()
  await page.getByRole('dialog').last().getByText(done).waitFor()
  await inDialog(page, 'Close').click()
}

test('a job is added with a complete contract', { skip }, async () => {
  await bed.serve()
  const page = await bed.open('#/queues')
  await press(page, 'Add a job …')
  const form = dialog(page, 'Add a job')
  await form.getByLabel('Queue').fill('made/by hand')
  await form.getByLabel('Body', { exact: true }).fill('{"by": "hand"}')
  await form.getByLabel('Priority').fill('7')
  await form.getByLabel('Delay in seconds').fill('600')
  await form.getByLabel('Time to run in seconds').fill('90')
  await form.getByLabel('Maximum attempts').fill('3')
  await form.getByLabel('Unique key').fill('one')
  await inDialog(page, 'Add it').click()
  await page.getByText(/^Job \d+ was added$/).waitFor()
  await page.getByRole('link', { name: 'made/by hand' }).click()
  await page.getByRole('tab', { name: 'delayed' }).click()
  await page.locator('tbody a').first().click()
  const id = Number(new URL(page.url()).hash.split('/').pop())
  const { priority, ttr_seconds: ttr, max_attempts: most, key, state, body } = await job(id)
  assert.deepEqual(
    [priority, ttr, most, key, state, body.data],
    [7, 90, 3, 'one', 'delayed', '{"by": "hand"}']
  )
})

test('a form with an error shows it and stays open', { skip }, async () => {
  await bed.serve()
  const page = await bed.open('#/queues')
  await press(page, 'Add a job …')
  await inDialog(page, 'Add it').click()
  await dialog(page, 'Add a job')
    .getByRole('alert')
    .getByText(/^Queue: /)
    .waitFor()
  await dialog(page, 'Add a job').getByLabel('Queue').fill('a')
  await dialog(page, 'Add a job').getByLabel('Priority').fill('99999999999')
  await inDialog(page, 'Add it').click()
  await dialog(page, 'Add a job')
    .getByRole('alert')
    .getByText(/^Priority: /)
    .waitFor()
})

test('one job is kicked, changed, moved, buried and deleted', { skip }, async () => {
  await bed.serve()
  const client = await bed.beans('mail')
  const id = await client.put('work', { delay: 600 })
  const page = await bed.open(`#/jobs/${id}`)
  page.noted.mayFail = true
  await press(page, 'Kick')
  await page.getByText(`Job ${id} is ready`).waitFor()
  await press(page, 'Change …')
  await dialog(page, `Change job ${id}`).getByLabel('Priority').fill('5')
  await inDialog(page, 'Change 1 job').click()
  await page.getByText('5 (high)').waitFor()
  await press(page, 'Move …')
  await dialog(page, `Move job ${id}`).getByLabel('To the queue').fill('post')
  await inDialog(page, 'Move 1 job').click()
  await page.locator('.crumbs').getByRole('link', { name: 'post' }).waitFor()
  await press(page, 'Bury …')
  await dialog(page, `Bury job ${id}`).getByText('This sets 1 job aside').waitFor()
  await inDialog(page, 'Bury 1 job').click()
  await page.getByText(`Job ${id} is buried`).waitFor()
  const now = await job(id)
  assert.deepEqual([now.state, now.queue, now.priority], ['buried', 'post', 5])
  await page.locator('.badges').getByText('buried').waitFor()
  await press(page, 'Delete …')
  await dialog(page, `Delete job ${id}`).getByText('This deletes 1 job of post for good.').waitFor()
  await inDialog(page, 'Delete 1 job').click()
  await page
    .getByRole('heading', { level: 1 })
    .filter({ hasNotText: `Job ${id}` })
    .waitFor()
  await assert.rejects(job(id), /404/)
})

test('a dead letter shows its origin, and is moved back', { skip }, async () => {
  await bed.serve()
  await bed.api('PUT', 'policies/mail', {
    max_attempts: 1,
    count_releases: true,
    on_exhausted: 'move',
    dead_queue: '{queue}.dead'
  })
  const client = await bed.beans('mail')
  const id = await client.put('work')
  await client.reserve()
  await client.release(id)
  const page = await bed.open(`#/jobs/${id}`)
  await page.getByText('after 1 attempt: no attempt was left').waitFor()
  await press(page, 'Move back')
  await page.getByText(`Job ${id} is back in mail`).waitFor()
  await page.locator('.crumbs').getByRole('link', { name: 'mail', exact: true }).waitFor()
  const now = await job(id)
  assert.deepEqual([now.queue, now.attempts, now.past], ['mail', 0, null])
})

test('a held job is touched, and taken back from its worker', { skip }, async () => {
  await bed.serve()
  const client = await bed.beans('mail')
  const id = await client.put('work', { ttr: 100 })
  await client.reserve()
  const page = await bed.open(`#/jobs/${id}`)
  await press(page, 'Touch')
  await page.getByText(`The time to run of job ${id} was restarted`).waitFor()
  await press(page, 'Release …')
  await dialog(page, `Release job ${id}`)
    .getByText('This takes 1 job back from its worker')
    .waitFor()
  await inDialog(page, 'Release 1 job').click()
  await page.locator('.badges').getByText('ready').waitFor()
  assert.equal((await job(id)).state, 'ready')
})

test('a queue is paused, resumed and limited', { skip }, async () => {
  await bed.serve()
  const client = await bed.beans('mail')
  await client.put()
  const page = await bed.open('#/queues/mail')
  await press(page, 'Pause …')
  await dialog(page, 'Pause mail').getByLabel('For how many seconds').fill('600')
  await inDialog(page, 'Pause 1 queue').click()
  await page.getByText(/^paused for/).waitFor()
  assert.equal((await bed.api('GET', 'queues/mail')).paused, true)
  await press(page, 'Resume')
  await page.getByRole('button', { name: 'Pause …' }).waitFor()
  await page.getByText('More', { exact: true }).click()
  await press(page, 'Limits …')
  await dialog(page, 'Limits of mail').getByLabel('Normal').fill('12')
  await inDialog(page, 'Set them').click()
  await dialog(page, 'Limits of mail').waitFor({ state: 'detached' })
  const { limits, paused } = await bed.api('GET', 'queues/mail')
  assert.deepEqual([limits, paused], [{ high: 0, normal: 12, low: 0 }, false])
})

test('a queue is cleared after the user has confirmed the number of jobs', { skip }, async () => {
  await bed.serve()
  await bed.beans('mail')
  await bed.putMany('mail', 40)
  const page = await bed.open('#/queues/mail')
  await press(page, 'Clear …')
  await inDialog(page, 'Count').click()
  await page.getByText('This will delete 40 jobs of mail').waitFor()
  // Without a confirmation, nothing changes.
  await inDialog(page, 'Back').click()
  assert.equal((await counts('mail')).ready, 40)
  await operate(page, {
    says: 'This will delete 40 jobs of mail',
    agree: 'Delete 40 jobs',
    done: '40 jobs deleted'
  })
  assert.equal((await counts('mail')).ready, 0)
})

test('an action on a queue whose name is not text does not affect one that looks alike', { skip }, async () => {
  await bed.serve()
  // Both are shown as U+FFFD, which the second one is.
  for (const path of ['%FF', '%FF', '%EF%BF%BD']) {
    await bed.api('POST', 'jobs', { queue_path: path })
  }
  const page = await bed.open('#/queues/%FF')
  // An empty queue is removed.
  page.noted.mayFail = true
  await press(page, 'Add a job …')
  await inDialog(page, 'Add it').click()
  await page.getByText(/^Job \d+ was added$/).waitFor()
  assert.equal((await counts('%FF')).ready, 3)
  await press(page, 'Clear …')
  await operate(page, {
    says: 'This will delete 3 jobs of \ufffd',
    agree: 'Delete 3 jobs',
    done: '3 jobs deleted'
  })
  assert.equal((await counts('%EF%BF%BD')).ready, 1)
})

test(
  'jobs that a filter fits are moved, kicked, buried and given another priority',
  { skip },
  async () => {
    await bed.serve()
    const client = await bed.beans('mail')
    for (let i = 0; i < 5; i++) await client.put('short')
    for (let i = 0; i < 3; i++) await client.put('a body that is longer')
    const page = await bed.open('#/queues/mail')
    await press(page, 'Move …')
    await operate(page, {
      async fill(form) {
        await form.getByLabel('To the queue').fill('long')
        await form.getByText('Only some of them').click()
        await form.getByLabel('Bytes of the body, at least').fill('10')
      },
      says: 'This will move 3 jobs of mail to long',
      agree: 'Move 3 jobs',
      done: '3 jobs moved'
    })
    assert.equal((await counts('long')).ready, 3)
    await page.getByText('More', { exact: true }).click()
    await press(page, 'Bury …')
    await operate(page, {
      says: 'This will bury 5 jobs',
      agree: 'Bury 5 jobs',
      done: '5 jobs buried'
    })
    await press(page, 'Kick …')
    await operate(page, {
      async fill(form) {
        await form.getByText('Only some of them').click()
        await form.getByLabel('Maximum number of jobs').fill('2')
      },
      says: 'This will kick 2 jobs',
      agree: 'Kick 2 jobs',
      done: '2 jobs kicked'
    })
    const { ready, buried } = await counts('mail')
    assert.deepEqual([ready, buried], [2, 3])
    await page.getByText('More', { exact: true }).click()
    await press(page, 'Change priority or delay …')
    await operate(page, {
      fill: form => form.getByLabel('Priority', { exact: true }).fill('3'),
      says: /This will change \d jobs/,
      agree: /^Change \d jobs$/,
      done: /\d jobs changed/
    })
  }
)

test(
  'many queues are paused and resumed at once, and operations are listed',
  { skip },
  async () => {
    await bed.serve()
    for (const name of ['mail-in', 'mail-out', 'other']) await bed.post(name, 'x')
    const page = await bed.open('#/operations')
    for (const [name, verb, paused] of [
      ['Pause …', 'Pause', true],
      ['Resume …', 'Resume', false]
    ]) {
      await press(page, name)
      await operate(page, {
        fill: form => form.getByLabel('Queue', { exact: true }).fill('mail-*'),
        says: `This will ${verb.toLowerCase()} 2 queues of mail-*`,
        agree: `${verb} 2 queues`,
        done: `2 queues ${verb.toLowerCase()}d`
      })
      assert.equal((await bed.api('GET', 'queues/mail-in')).paused, paused)
      assert.equal((await bed.api('GET', 'queues/other')).paused, false)
      await page
        .getByRole('cell', { name: `${verb.toLowerCase()} mail-*`, exact: true })
        .first()
        .waitFor()
    }
  }
)

test('an operation that would change nothing is not offered', { skip }, async () => {
  await bed.serve()
  await bed.post('mail', 'x')
  const page = await bed.open('#/queues/mail')
  await press(page, 'Kick …')
  await inDialog(page, 'Count').click()
  await page.getByText('This changes nothing: 0 jobs of mail').waitFor()
  assert.equal(await page.getByRole('dialog').last().getByRole('button').count(), 1)
})

test(
  'a broker is drained and takes jobs again, and reads its configuration',
  { skip },
  async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tandem-page-'))
    const config = path.join(folder, 'tandemd.conf')
    fs.writeFileSync(config, '')
    await bed.serve([], config)
    const page = await bed.open('#/configuration')
    await press(page, 'Drain …')
    await inDialog(page, 'Drain the broker').click()
    await page.getByRole('status').getByText('Draining').waitFor()
    assert.equal((await bed.api('GET', 'process')).draining, true)
    await press(page, 'Accept new jobs')
    await page.getByRole('status').getByText('Live').waitFor()
    await press(page, 'Reload')
    await page.getByText('The configuration was read again').waitFor()
    fs.writeFileSync(config, 'wrong')
    await press(page, 'Reload')
    await page.getByText('The configuration has an error, see the log.').waitFor()
    fs.rmSync(folder, { recursive: true })
  }
)
