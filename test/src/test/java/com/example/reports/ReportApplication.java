package com.example.reports;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application of a user, with Redis as its store. */
@SpringBootApplication
class ReportApplication {}
