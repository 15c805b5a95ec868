# frozen_string_literal: true

# Asks real Ruby: JSON lines [pattern, subject] in, [true], [false], [{"error": "message"}] out; [null] where Ruby needs more than
# two seconds.

require 'json'
require 'timeout'

$VERBOSE = nil
$stdout.set_encoding('UTF-8')
$stdin.each_line do |line|
  pattern, subject = JSON.parse(line)
  answer =
    begin
      Timeout.timeout(2) { Regexp.new(pattern).match?(subject) }
    rescue RegexpError => e
      { 'error' => e.message }
    rescue Timeout::Error
      nil
    end
  puts JSON.generate([answer])
end
