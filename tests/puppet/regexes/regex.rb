# frozen_string_literal: true

# Asks real Ruby: JSON lines [pattern, subject] in, true or false or {"error": "message"} out.

require 'json'

$VERBOSE = nil
$stdout.set_encoding('UTF-8')
$stdin.each_line do |line|
  pattern, subject = JSON.parse(line)
  answer =
    begin
      Regexp.new(pattern).match?(subject)
    rescue RegexpError => e
      { 'error' => e.message }
    end
  puts JSON.generate([answer])
end
