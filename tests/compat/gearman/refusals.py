# SPDX-License-Identifier: MIT
"""The errors that both servers know, and those of one alone."""

from gearman.packets import ERROR

NOT_EXPECTED = ERROR("INVALID_COMMAND", "Command not expected")
INVALID_MAGIC = ERROR("INVALID_MAGIC", "Request magic expected")
UNIQUE_TOO_LARGE = ERROR("ARGUMENT_TOO_LARGE", "Unique value too large")
UNKNOWN_OPTION = ERROR("UNKNOWN_OPTION", "Server does not recognize given option")
QUEUE_FULL = ERROR("QUEUE_ERROR", "Job queue is full")

# Of reports about a job that is not the sender's, or is none at all.
NO_JOB_FOR_RESULT = ERROR("JOB_NOT_FOUND", "Job given in work result not found")
NO_JOB_FOR_DATA = ERROR("JOB_NOT_FOUND", "Job does not exist on server")
NO_JOB_FOR_EXCEPTION = ERROR("JOB_NOT_FOUND",
                             "An exception was received for a job that does not exist")

# Theirs.
HANDLE_TOO_LARGE = ERROR("ARGUMENT_TOO_LARGE", "Error occurred due to GEARMAND_JOB_HANDLE_SIZE "
                         "being too small from snprintf")

# Ours.
TOO_FEW_ARGUMENTS = ERROR("INVALID_ARGUMENT", "The packet has too few arguments")
NO_MOMENT = ERROR("INVALID_ARGUMENT", "Not a moment at which the job could start")
NO_FUNCTION_NAME = ERROR("INVALID_FUNCTION_NAME", "A function needs a name")
ARGUMENT_TOO_LONG = ERROR("ARGUMENT_TOO_LARGE", "An argument is too long")
WORKLOAD_TOO_LARGE = ERROR("ARGUMENT_TOO_LARGE", "The workload is too large")
DRAINING = ERROR("QUEUE_ERROR", "Server is draining")

# Of lines of text.
UNKNOWN_COMMAND = "ERR UNKNOWN_COMMAND Unknown+server+command"
INCOMPLETE = ("ERR INVALID_ARGUMENTS "
              "An+incomplete+set+of+arguments+was+sent+to+this+command+")
