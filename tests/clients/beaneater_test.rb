# SPDX-License-Identifier: MIT
# Beaneater, a beanstalk client for Ruby, as Debian packages it. Each test has a tube of its own;
# BEANSTALK_ADDRESS (host:port) says where the server is.

require 'beaneater'
require 'minitest'

class BeaneaterTest < Minitest::Test
  def setup
    @clients = []
    @client = connect
    # Beaneater 1.1.3 replaces -, : and ~ in the values of statistics, and so in names of tubes.
    @name = "beaneater_#{Process.pid}_#{name}"
    @tube = @client.tubes[@name]
  end

  def teardown
    @clients.each(&:close)
  end

  def connect
    client = Beaneater.new(ENV.fetch('BEANSTALK_ADDRESS'))
    @clients << client
    client
  end

  # The same tube, of another connection.
  def elsewhere
    connect.tubes[@name]
  end

  def put_and_reserve(**options)
    id = @tube.put('work', **options)[:id]
    job = @tube.reserve
    assert_equal id, job.id
    job
  end

  def assert_nothing_ready
    assert_raises(Beaneater::TimedOutError) { @tube.reserve(0) }
  end

  def test_a_job_that_is_put_is_reserved_with_its_id_and_body
    answer = @tube.put("a body with\r\na line end")
    assert_equal 'INSERTED', answer[:status]
    job = @tube.reserve
    assert_equal [answer[:id], "a body with\r\na line end"], [job.id, job.body]
    assert job.reserved?
  end

  def test_a_body_of_60000_bytes_comes_back_whole
    body = (0...60_000).map { |i| (i % 251).chr }.join
    @tube.put(body)
    assert_equal body.b, @tube.reserve.body.b
  end

  def test_a_waiting_reserve_gets_the_job_that_another_client_puts
    tube = elsewhere
    worker = Thread.new { tube.reserve.body }
    @tube.put('late')
    assert_equal 'late', worker.value
  end

  def test_the_lowest_priority_number_is_reserved_first_then_the_oldest_job
    [['c', 20], ['a', 10], ['b', 10]].each { |body, pri| @tube.put(body, pri: pri) }
    assert_equal(%w[a b c], Array.new(3) { @tube.reserve.body })
  end

  def test_reserve_times_out
    assert_nothing_ready
    assert_raises(Beaneater::TimedOutError) { @tube.reserve(1) }
  end

  def test_a_deleted_job_is_gone
    job = put_and_reserve
    job.delete
    refute job.exists?
    assert_nil @client.jobs.find(job.id)
    assert_raises(Beaneater::NotFoundError) { job.delete }
  end

  def test_a_released_job_is_ready_again_with_its_new_priority
    job = put_and_reserve(pri: 5)
    job.release(pri: 7)
    assert_equal ['ready', 7, 1], [job.stats.state, job.pri, job.stats.releases]
    assert_equal job.id, @tube.reserve.id
  end

  def test_a_job_released_with_a_delay_comes_back_after_it
    job = put_and_reserve
    job.release(delay: 3)
    assert_equal 'delayed', job.stats.state
    assert_equal job.id, @tube.reserve(30).id
  end

  def test_a_buried_job_waits_for_a_kick
    job = put_and_reserve
    job.bury(pri: 3)
    assert_equal ['buried', 3], [job.stats.state, job.pri]
    assert_nothing_ready
    assert_equal '1', @tube.kick(10)[:id]
    assert_equal job.id, @tube.reserve.id
    assert_equal 1, job.stats.kicks
  end

  def test_a_job_is_kicked_alone
    jobs = Array.new(2) { put_and_reserve }.each(&:bury)
    jobs.last.kick
    assert_equal jobs.last.id, @tube.reserve.id
    assert_equal jobs.first.id, @tube.peek(:buried).id
  end

  def test_a_touched_job_has_its_time_to_run_again
    job = put_and_reserve(ttr: 60)
    nil while job.stats.time_left > 57
    job.touch
    assert_operator job.stats.time_left, :>, 57
  end

  def test_a_job_is_given_to_another_when_its_time_to_run_is_over
    job = put_and_reserve(ttr: 3)
    assert_equal job.id, elsewhere.reserve(30).id
    assert_equal 1, job.stats.timeouts
  end

  def test_a_reserve_close_to_the_end_of_a_lease_says_so
    put_and_reserve(ttr: 3)
    assert_raises(Beaneater::DeadlineSoonError) { @tube.reserve }
  end

  def test_a_paused_tube_hands_out_nothing_until_it_is_resumed
    id = @tube.put('work')[:id]
    @tube.pause(3600)
    assert_equal 3600, @tube.stats.pause
    assert_nothing_ready
    @tube.pause(0)
    assert_equal id, @tube.reserve.id
  end

  def test_the_peeks_show_a_job_of_each_state_and_leave_it_there
    put_and_reserve.bury
    @tube.put('work')
    @tube.put('work', delay: 3600)
    %w[ready delayed buried].each { |state| assert_equal state, @tube.peek(state).stats.state }
  end

  def test_the_peeks_of_an_empty_tube_find_nothing
    @client.tubes.use(@name)
    %w[ready delayed buried].each { |state| assert_nil @tube.peek(state) }
  end

  def test_a_tube_is_cleared_of_all_jobs_that_are_not_reserved
    put_and_reserve.bury
    @tube.put('work')
    @tube.put('work', delay: 3600)
    @tube.clear
    %w[ready delayed buried].each { |state| assert_nil @tube.peek(state) }
  end

  def test_watched_used_and_all_tubes_are_listed
    other = "#{@name}-other"
    @client.tubes.watch!(@name, other)
    assert_equal [@name, other], @client.tubes.watched.map(&:name).sort
    @client.tubes.ignore(other)
    assert_raises(Beaneater::NotIgnoredError) { @client.tubes.ignore(@name) }
    @client.tubes.use(other)
    assert_equal other, @client.tubes.used.name
    assert_includes @client.tubes.all.map(&:name), @name
  end

  def test_a_name_that_cannot_be_is_refused
    assert_raises(Beaneater::InvalidTubeName) { @client.tubes.use('-no') }
  end

  def test_a_job_that_is_lost_twice_has_been_retried_and_is_a_dead_letter_then
    @name += '.retried'
    id = connect.tubes[@name].put('work')[:id]
    lose = lambda do
      leaving = Beaneater.new(ENV.fetch('BEANSTALK_ADDRESS'))
      assert_equal id, leaving.tubes[@name].reserve(30).id
      leaving.close
    end
    lose.call
    nil while (state = @client.jobs.find(id).stats.state) == 'reserved'
    assert_equal 'delayed', state
    lose.call
    dead = @client.tubes["#{@name}.dead"].reserve(30)
    assert_equal [id, @name, 2], [dead.id, dead.stats.dead_from, dead.stats.dead_attempts]
  end

  def test_jobs_of_a_client_that_leaves_are_ready_again
    put_and_reserve
    tube = elsewhere
    @client.close
    assert_equal 'work', tube.reserve(30).body
  end

  def test_stats_count_what_was_done
    earlier = @client.stats.cmd_put
    put_and_reserve.delete
    assert_equal earlier + 1, @client.stats.cmd_put
    assert_operator Gem::Version.new(@client.stats.version.to_s), :>=, Gem::Version.new('1.8')
  end

  def test_a_job_that_is_too_big_is_refused_and_the_connection_lives_on
    assert_raises(Beaneater::JobTooBigError) { @tube.put('x' * 70_000) }
    put_and_reserve
  end

  def test_registered_blocks_process_jobs_until_one_aborts
    seen = []
    @client.jobs.register(@name) do |job|
      seen << job.body
      raise Beaneater::AbortProcessingError if job.body == 'last'
    end
    %w[first second last].each { |body| @tube.put(body) }
    @client.jobs.process!
    assert_equal %w[first second last], seen
    assert_equal 'last', @tube.peek(:buried).body
  end
end

# Tells tests/tools/count-tests.awk how many there were.
class CountReporter < Minitest::StatisticsReporter
  def report
    super
    io.puts "# pass #{count - failures - errors - skips}", "# fail #{failures + errors}",
            "# skipped #{skips}"
  end
end

module Minitest
  def self.plugin_count_init(options)
    reporter << CountReporter.new(options[:io], options)
  end
  extensions << 'count'
end

exit Minitest.run(ARGV)
